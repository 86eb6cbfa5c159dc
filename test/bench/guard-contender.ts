import { createClock } from "../../shared/adapters/clock.ts";
import { createFiles } from "../../shared/adapters/files.ts";
import { createGit } from "../../shared/adapters/git.ts";
import { createProcess } from "../../shared/adapters/process.ts";
import { openGuard } from "../../shared/app/guard-gates.ts";
import { installedRules } from "../../shared/app/project-rules.ts";
import { absPath, inRoot } from "../../shared/base/paths.ts";
import { runGate } from "../../shared/engine/attempt.ts";
import { Contract } from "../../shared/model/contract.ts";
import type { Finding } from "../../shared/model/finding.ts";
import type { Change } from "../../shared/model/change.ts";
import { unknownUsage } from "../../shared/model/usage.ts";
import type { GateInput } from "../../shared/ports/gate.ts";
import { sourceRoot } from "../support/source-root.ts";

/** The whole guard over two trees of a repository, as a process of its own or again and again in one. */
export interface GuardBench extends Disposable {
  diff(base: string, tree: string): Promise<Change>;
  judge(change: Change): Promise<{ readonly findings: readonly Finding[]; readonly ms: ReadonlyMap<string, number> }>;
}

export async function openGuardBench(folder: string, env: Readonly<Record<string, string>>): Promise<GuardBench> {
  const files = createFiles();
  const process = createProcess();
  const installRoot = absPath(sourceRoot);
  const root = absPath(folder);
  const git = await createGit({ folder: root, process, env });
  const guard = openGuard({
    installRoot,
    settings: { sources: await installedRules({ files, machine: { installRoot } as never }), switches: {} },
    files,
    process,
    tests: { run: () => Promise.resolve({ kind: "missing-tool" as const, message: "nothing is run here" }) },
    env: {},
    ids: { next: (prefix) => `${prefix}-1` },
    filesAt: (treeish) => git.filesAt(treeish),
  });
  const contract = Contract.parse({ id: "bench", title: "bench", goal: "g", allowed: ["**"] });
  return {
    diff: (base, tree) => git.diff(base, tree),
    async judge(change) {
      const input: GateInput = {
        contract,
        attempt: 1,
        root,
        change,
        report: {
          kind: "done",
          summary: "",
          claims: [],
          concerns: [],
          refused: [],
          problems: [],
          usage: unknownUsage,
          durationMs: 0,
        },
        soFar: [],
        attemptDir: { relative: "a", absolute: inRoot(root, "a") },
        sink: { append: () => undefined, sidecar: (path) => Promise.resolve({ path, bytes: 0, sha256: "" }) },
        read: (path) => files.read(inRoot(root, path)),
        readBase: (path) => git.fileAt(change.base, path),
      };
      const findings: Finding[] = [];
      const ms = new Map<string, number>();
      for (const gate of guard.gates) {
        if (gate.phase !== "change") continue;
        const began = performance.now();
        const { result } = await runGate(
          gate,
          { ...input, soFar: findings },
          createClock(),
          new AbortController().signal,
        );
        ms.set(gate.id, performance.now() - began);
        if (result.kind === "ran") findings.push(...result.findings);
      }
      return { findings, ms };
    },
    [Symbol.dispose]: () => guard[Symbol.dispose](),
  };
}

const [, script, folder, base, tree] = globalThis.process.argv;
if (script?.includes("guard-contender") === true && folder !== undefined && base !== undefined && tree !== undefined) {
  const env = Object.fromEntries(
    Object.entries(globalThis.process.env).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  );
  using bench = await openGuardBench(folder, env);
  const { findings, ms } = await bench.judge(await bench.diff(base, tree));
  console.log(JSON.stringify({ findings: findings.length, ms: Object.fromEntries(ms) }));
}
