import type { Finding } from "../../../model/finding.ts";
import { isOwnCheck, quieter, sameCall, sameKind, sameSubject, sharesOperand, versus } from "../assertion-change.ts";
import { isTrivial } from "../cannot-fail.ts";
import type { OutlineAssertion, OutlineTest } from "../outline.ts";
import { removed, weakened } from "../test-findings.ts";
import type { TestFile } from "../test-file.ts";
import { coveredByTable } from "./covered-by-table.ts";
import type { Moved } from "./moved.ts";

/** Both sides of a test or of a helper. */
interface Sides {
  readonly path: string;
  readonly oldPath: string;
  readonly before: Pick<OutlineTest, "assertions"> & Partial<OutlineTest>;
  readonly now: Pick<OutlineTest, "assertions"> & Partial<OutlineTest>;
  readonly moved: Moved;
  readonly files: readonly TestFile[];
}

/** Same claims first, then the nearest other one: what is left over is lost, unless it stands elsewhere. */
export function changedAssertions(sides: Sides): Finding[] {
  const { path, oldPath, before, now, moved, files } = sides;
  const found: Finding[] = [];
  let lost: OutlineAssertion[] = [];
  const left = [...now.assertions];
  const takeFirst = (fits: (one: OutlineAssertion) => boolean): OutlineAssertion | undefined => {
    const at = left.findIndex(fits);
    return at === -1 ? undefined : left.splice(at, 1)[0];
  };
  for (const old of before.assertions) {
    const same =
      takeFirst(
        (one) =>
          one.key === old.key &&
          one.tolerance === old.tolerance &&
          (one.hushed === undefined) === (old.hushed === undefined),
      ) ?? takeFirst((one) => one.key === old.key && one.tolerance === old.tolerance);
    if (same === undefined) lost.push(old);
    else found.push(...quieter(path, old, same, before, now));
  }
  const compared: OutlineAssertion[] = [];
  for (const fits of [sameSubject, sharesOperand, sameCall, sameKind]) {
    compared.length = 0;
    for (const old of lost) {
      const other = takeFirst((one) => isOwnCheck(one) === isOwnCheck(old) && fits(old, one));
      if (other === undefined) compared.push(old);
      else found.push(...versus(path, old, other, before, now));
    }
    lost = [...compared];
  }
  lost = lost.filter((old) => !moved.keeps(old) && old.hushed === undefined);
  const trivial = left.filter((one) => isTrivial(one, now));
  for (const old of [...lost]) {
    const stand = trivial.shift();
    if (stand === undefined) break;
    lost = lost.filter((one) => one !== old);
    found.push(weakened(path, stand.line, "an assertion gave way to one that cannot fail", stand.text));
    found.push(removed(oldPath, old));
  }
  lost = lost.filter((old) => !coveredByTable(old, files)).slice(coveredByHelpers(sides));
  for (const old of lost) found.push(removed(oldPath, old));
  return found;
}

/** As many assertions as helpers make that the test calls now and did not call before. */
function coveredByHelpers({ before, now, files }: Sides): number {
  const calls = now.calls;
  if (calls === undefined) return 0;
  const isNew = (name: string): boolean => calls.has(name) && before.calls?.has(name) !== true;
  return files.reduce((sum, { now: outline }) => {
    const called = (outline?.helpers ?? []).filter(({ name }) => name !== "" && isNew(name));
    return (
      sum +
      called.reduce(
        (all, { assertions }) => all + assertions.filter(({ hushed }) => hushed === undefined).length * 20,
        0,
      )
    );
  }, 0);
}
