import type { OutlineTest } from "../outline.ts";
import type { TestFile } from "../test-file.ts";

/** A test of before and what it is now. */
export interface Pair {
  readonly file: TestFile;
  readonly before: OutlineTest;
  readonly now: OutlineTest;
  readonly nowPath: string;
}

/** A test that has no other side. */
export interface Placed {
  readonly file: TestFile;
  readonly test: OutlineTest;
}

/** By group and name in the file, by name anywhere, then by what the body says. */
export function pairTests(files: readonly TestFile[]): {
  readonly pairs: Pair[];
  readonly gone: Placed[];
  readonly fresh: Placed[];
} {
  const pairs: Pair[] = [];
  let gone: Placed[] = files.flatMap((file) => (file.before?.tests ?? []).map((test) => ({ file, test })));
  let fresh: Placed[] = files.flatMap((file) => (file.now?.tests ?? []).map((test) => ({ file, test })));
  const take = (same: (a: Placed, b: Placed) => boolean): void => {
    const used = new Set<Placed>();
    const left: Placed[] = [];
    for (const old of gone) {
      const other = fresh.find((one) => !used.has(one) && same(old, one));
      if (other === undefined) left.push(old);
      else {
        used.add(other);
        pairs.push({ file: old.file, before: old.test, now: other.test, nowPath: other.file.path });
      }
    }
    gone = left;
    fresh = fresh.filter((one) => !used.has(one));
  };
  // By name through a table first: files of thousands of tests are compared in one walk.
  const byId = Map.groupBy(fresh, ({ file, test }) => `${file.path}\0${test.id}`);
  const taken = new Set<Placed>();
  gone = gone.filter((old) => {
    const other = byId.get(`${old.file.path}\0${old.test.id}`)?.find((one) => !taken.has(one));
    if (other === undefined) return true;
    taken.add(other);
    pairs.push({ file: old.file, before: old.test, now: other.test, nowPath: other.file.path });
    return false;
  });
  fresh = fresh.filter((one) => !taken.has(one));
  if (gone.length * fresh.length <= 250_000) {
    take((a, b) => a.file === b.file && a.test.name === b.test.name);
    take((a, b) => a.test.name === b.test.name);
    take((a, b) => a.test.body !== "" && a.test.body === b.test.body);
    take((a, b) => alike(a.test, b.test));
  }
  return { pairs, gone, fresh };
}

/** Renamed and edited: most of what it asserts is the same. */
function alike(a: OutlineTest, b: OutlineTest): boolean {
  if (a.assertions.length === 0) return false;
  const keys = new Set(b.assertions.map(({ key }) => key));
  const same = a.assertions.filter(({ key }) => keys.has(key)).length;
  return same > 0 && same * 2 >= a.assertions.length;
}
