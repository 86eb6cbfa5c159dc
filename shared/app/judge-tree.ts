import { inRoot, type RepoPath, repoPath } from "../base/paths.ts";
import { runGate } from "../engine/attempt.ts";
import { contractOf } from "../features/contract-of.ts";
import { type LoadedPack, packOfSlice } from "../features/packs.ts";
import { specFacts } from "../features/spec-rows.ts";
import type { Finding } from "../model/finding.ts";
import type { GateResult } from "../model/gate-result.ts";
import { OrchError } from "../model/error.ts";
import { verdictOf } from "../model/verdict.ts";
import type { GateInput } from "../ports/gate.ts";
import type { DoContext } from "./do-context.ts";
import { projectPacks } from "./project-packs.ts";
import type { TreeJudge } from "./tree-judge.ts";

/** Gates that ask what a worker said, or how it came to its answers; a merge has none. */
const aboutWorkers = new Set(["report", "extraction", "truncation", "spec"]);

/**
 * The feature's gates over a tree that is about to become the default branch's: the same gates as `do`, asked about the
 * difference from that branch, the slice's tests run in the folder where the tree lies.
 */
export function createTreeJudge(context: DoContext): TreeJudge {
  return async ({ feature, folder, tree, base }, signal) => {
    const { files, git } = context;
    const packs = await projectPacks(context);
    const names = ((await files.list(inRoot(folder, feature.dir))) ?? []).map(({ name }) => name);
    const pack = packOfSlice(packs, names) ?? packs[0];
    const spec = await files.readText(inRoot(folder, feature.spec));
    if (spec === undefined) {
      return verdictOf([{ id: "readiness", result: { kind: "ran", findings: [specGone(feature.spec)] } }]);
    }
    const controller = pack.pack.roles.controller !== undefined && names.includes(pack.pack.roles.controller);
    const contract = contractOf({
      feature,
      pack: pack.pack,
      spec,
      request: "",
      controller,
      tests: await testsOf(context, pack, { folder, dir: feature.dir }, signal),
      maxAttempts: 1,
      marked: [],
      fewShots: [],
      // The budget bounds what a worker writes; a merge brings in what was accepted already.
      existingLines: 1_000_000,
    });
    const change = await git.diff(base, tree);
    const specBefore = await git.fileAt(base, feature.spec);
    const read = (path: RepoPath): Promise<Uint8Array | undefined> => files.read(inRoot(folder, path));
    const input: GateInput = {
      // The merge may hold whatever the branch holds: scope was judged when it was written.
      contract: { ...contract, allowed: [...contract.allowed, "**"], protected: [] },
      attempt: 1,
      root: folder,
      change,
      slice: {
        target: feature.target,
        dir: feature.dir,
        pack: pack.pack,
        controller,
        registry: feature.registry,
        spec: specFacts(spec, specBefore === undefined ? undefined : new TextDecoder().decode(specBefore)),
      },
      soFar: [],
      attemptDir: { relative: "merge", absolute: inRoot(context.runDir, "merge") },
      sink: context.sink,
      read,
      readBase: (path) => git.fileAt(base, path),
    };
    const { gates } = await context.projectGates();
    const told: { readonly id: string; readonly result: GateResult }[] = [];
    for (const gate of gates) {
      if (gate.phase !== "change" || aboutWorkers.has(gate.id) || gate.id === "scope") continue;
      const soFar = told.flatMap(({ result }) => (result.kind === "ran" ? result.findings : []));
      told.push(await runGate(gate, { ...input, soFar }, context.clock, signal));
    }
    return verdictOf(told);
  };
}

async function testsOf(
  context: DoContext,
  pack: LoadedPack,
  at: { readonly folder: GateInput["root"]; readonly dir: RepoPath },
  signal: AbortSignal,
): Promise<Parameters<typeof contractOf>[0]["tests"]> {
  const tests = repoPath(`${at.dir}/${pack.pack.roles.tests}`);
  if (tests === undefined) throw new TypeError(`${at.dir} is no slice`);
  const subject = { root: at.folder, tests, dir: at.dir, toolsRoot: context.root };
  const chosen = await context.testRunner.choose(pack.pack, subject, signal);
  if (chosen.kind === "command") return chosen.command;
  throw new OrchError("env.missing-tool", chosen.message, { data: { tool: `the test program of ${pack.pack.title}` } });
}

function specGone(path: string): Finding {
  return {
    rule: "spec.missing",
    severity: "FAIL",
    message: `${path} is missing in the merged result`,
    path,
    evidence: "",
    remedy: "Bring the specification back on the feature branch",
  };
}
