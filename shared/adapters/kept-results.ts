import * as z from "zod";
import { readJson } from "../model/json-text.ts";
import type { KeptResult, KeptResults } from "../ports/worktrees.ts";
import { writeBlob } from "./git-blobs.ts";
import { decode, type GitCall } from "./git-call.ts";
import { checkedRef, checkedRevision } from "./git-names.ts";
import { snapshotCommit } from "./worktree-snapshot.ts";

/** `<run>/<contract>`. */
export const keptRefs = "refs/orch/kept/";

const Kept = z.strictObject({
  v: z.literal(1),
  run: z.string(),
  contract: z.string(),
  title: z.string(),
  /** The commit under the base, and the base's own tree when the base was a snapshot. */
  head: z.string(),
  base: z.string(),
});

/**
 * One ref for each result, to a tree `{result/, base/, kept.json}`: refs to trees are in no log, and keep every file of
 * both sides. The commits on top are made of it again, with the same ids, whenever git has pruned them.
 */
export function createKeptResults(call: GitCall): KeptResults {
  const refOf = (run: string, contract: string): string => checkedRef(`${keptRefs}${run}/${contract}`);

  async function read(ref: string): Promise<KeptResult | undefined> {
    const answer = await call.answer(["cat-file", "blob", `${ref}:kept.json`]);
    if (answer.code !== 0) return undefined;
    const kept = readJson(decode(answer.stdout), Kept);
    if (kept.kind !== "ok") return undefined;
    const { run, contract, title, head, base } = kept.value;
    const tree = await call.text(["rev-parse", `${ref}:result`]);
    const there = await call.maybe(["cat-file", "-e", `${base}^{commit}`]);
    if (there === undefined) {
      const again = await snapshotCommit(call, await call.text(["rev-parse", `${ref}:base`]), head);
      if (again !== base) return undefined;
    }
    return { run, contract, title, base, tree, commit: await snapshotCommit(call, tree, base) };
  }

  return {
    async keep({ run, contract, title, base, tree }) {
      const head = (await call.maybe(["rev-parse", "--verify", "--quiet", `${checkedRevision(base)}^1`])) ?? base;
      const about = { v: 1, run, contract, title, head, base } satisfies z.input<typeof Kept>;
      const blob = await writeBlob(call, `${JSON.stringify(about)}\n`);
      const lines = [
        `040000 tree ${await call.text(["rev-parse", `${base}^{tree}`])}\tbase`,
        `100644 blob ${blob}\tkept.json`,
        `040000 tree ${await call.text(["rev-parse", `${checkedRevision(tree)}^{tree}`])}\tresult`,
      ];
      const wrapped = await call.text(["mktree", "-z"], { stdin: lines.map((line) => `${line}\0`).join("") });
      await call.bytes(["update-ref", "-m", "orch: kept", refOf(run, contract), wrapped]);
      return { run, contract, title, base, tree, commit: await snapshotCommit(call, tree, base) };
    },
    find: (run, contract) => read(refOf(run, contract)),
    async list() {
      const refs = (await call.text(["for-each-ref", "--format=%(refname)", keptRefs])).split("\n");
      const found: KeptResult[] = [];
      for (const ref of refs) {
        const one = ref === "" ? undefined : await read(ref);
        if (one !== undefined) found.push(one);
      }
      return found;
    },
    async drop(run, contract) {
      const ref = refOf(run, contract);
      const now = await call.maybe(["rev-parse", "--verify", "--quiet", ref]);
      if (now === undefined) return false;
      return (await call.answer(["update-ref", "-d", ref, now])).code === 0;
    },
  };
}
