// A runner's worth of worktrees, over and over, to be killed at any moment: argv is root, state folder, run.
import { createClock } from "../../shared/adapters/clock.ts";
import { createFiles } from "../../shared/adapters/files.ts";
import { openGit } from "../../shared/adapters/git.ts";
import { createIds } from "../../shared/adapters/ids.ts";
import { createKeptResults } from "../../shared/adapters/kept-results.ts";
import { createProcess } from "../../shared/adapters/process.ts";
import { createTrash } from "../../shared/adapters/trash.ts";
import { createWorktreeWorkspaces } from "../../shared/adapters/workspace-worktree.ts";
import { absPath, inRoot } from "../../shared/base/paths.ts";
import { Contract } from "../../shared/model/contract.ts";

const [root = "", state = "", run = ""] = process.argv.slice(2);
const env = Object.fromEntries(Object.entries(process.env).map(([name, value]) => [name, value ?? ""]));
const { call } = await openGit({ folder: absPath(root), process: createProcess(), env, run });
const clock = createClock();
const trash = createTrash({ call, clock, ids: createIds(clock) });
const runs = { find: () => Promise.resolve(undefined), isAlive: () => false };
const deps = { call, files: createFiles(), trash, kept: createKeptResults(call), runs, env };
const signal = new AbortController().signal;
process.stdout.write("ready\n");
for (let round = 0; round < 3; round += 1) {
  const worktrees = createWorktreeWorkspaces(deps, { run, stateDir: absPath(state), links: [] });
  const contract = Contract.parse({ id: "T1", title: "T1", goal: "x", allowed: ["**"] });
  await using workspace = await worktrees.open(contract, signal);
  await deps.files.write(inRoot(workspace.root, "made.txt"), `${round}\n`);
  await workspace.collect(signal);
  await workspace.rollback(signal);
}
