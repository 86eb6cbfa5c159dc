import assert from "node:assert/strict";
import fs from "node:fs";
import { type BusyRepo, busySlice } from "./busy-repo.ts";
import { goodReply, invoiceSpec } from "./invoice-replies.ts";
import { orchJson } from "./orch-cli.ts";
import type { Step } from "./scripted-model-server/script.ts";

/** The commands that change a repository, each with the moment it starts at and what is true when it was carried out. */
export interface BusyCommand {
  readonly args: readonly string[];
  readonly prepare?: (work: Pick<BusyRepo, "repo" | "place">) => Promise<void>;
  isDone(work: BusyRepo): Promise<void>;
}

const branch = "Billing/Invoice";

export const busySteps: readonly Step[] = [
  { match: { system: "You write spec.md" }, reply: { text: invoiceSpec } },
  { match: { system: "reads specifications" }, reply: { text: "VALID" } },
  { match: { system: "backend engineer" }, reply: { text: goodReply } },
];

/** `do` was carried out; its run is forgotten. */
async function implemented({ repo, place }: Pick<BusyRepo, "repo" | "place">): Promise<void> {
  const done = await orchJson(place, "do");
  assert.equal(done.code, 0, JSON.stringify(done));
  fs.rmSync(repo.path(".orch", "runs"), { recursive: true });
}

/** main, clean, and nothing of the feature anywhere. */
async function before({ repo }: Pick<BusyRepo, "repo">): Promise<void> {
  await repo.git("reset", "-q", "--hard");
  await repo.git("clean", "-qfdx", "-e", ".venv");
  await repo.git("switch", "-q", "main");
  await repo.git("branch", "-qD", branch);
}

export const busyCommands: Readonly<Record<"new" | "do" | "merge" | "undo", BusyCommand>> = {
  new: {
    args: ["new", branch, "Totals of an invoice"],
    prepare: before,
    async isDone({ repo }) {
      assert.equal(await repo.git("symbolic-ref", "--short", "HEAD"), branch);
      for (const name of ["spec.md", "Handler.py", "Tests.py"]) assert.ok(await repo.read(`${busySlice}/${name}`));
    },
  },
  do: {
    args: ["do"],
    async isDone({ repo }) {
      assert.equal(await repo.git("log", "--format=%s", "main..HEAD"), "feat: Invoice");
      assert.equal(await repo.git("status", "--porcelain", "--", busySlice, ".features.json"), "");
    },
  },
  merge: {
    args: ["merge"],
    prepare: implemented,
    async isDone({ repo }) {
      assert.equal(await repo.git("log", "-1", "--format=%s", "main"), `Merge branch '${branch}'`);
      assert.equal(await repo.gitIn(repo.remote ?? "", "rev-parse", "main"), await repo.git("rev-parse", "main"));
      assert.equal(await repo.git("branch", "--format=%(refname:short)"), "main");
    },
  },
  undo: {
    args: ["undo", "--yes"],
    prepare: implemented,
    async isDone({ repo }) {
      assert.equal(await repo.git("branch", "--format=%(refname:short)"), "main");
      assert.ok(!fs.existsSync(repo.path(busySlice)));
    },
  },
};
