import fs from "node:fs";
import { absPath, type RepoPath, repoPath } from "../../shared/base/paths.ts";
import type { WorkerReport } from "../../shared/model/attempt.ts";
import type { Change, ChangedFile } from "../../shared/model/change.ts";
import { Contract, type ContractInput } from "../../shared/model/contract.ts";
import type { Finding } from "../../shared/model/finding.ts";
import { Pack } from "../../shared/model/pack.ts";
import { zeroUsage } from "../../shared/model/usage.ts";
import type { Gate, GateInput, SliceFacts } from "../../shared/ports/gate.ts";
import { changeOf } from "./memory-workspace.ts";
import { RecordingSink } from "./recording-sink.ts";
import { sourceRoot } from "./source-root.ts";

export const sliceDir = "features/Billing/Invoice";

export const pythonPack = Pack.parse({
  lang: "python",
  title: "Python",
  extensions: [".py"],
  roles: {
    init: "__init__.py",
    schema: "Schema.py",
    handler: "Handler.py",
    controller: "Controller.py",
    tests: "Tests.py",
  },
  optional: ["controller"],
  templates: {},
  test: { argv: ["{runner}", "{tests}"], runners: [{ argv: ["python3"] }], report: "junit", missing: "Install pytest" },
  grammar: "python",
  rootFiles: ["pyproject.toml", ".python-version"],
});

export const typescriptPack = Pack.parse(
  JSON.parse(fs.readFileSync(`${sourceRoot}/rules/typescript/pack.json`, "utf8")),
);

export const sliceFacts = (more: Partial<SliceFacts> = {}): SliceFacts => ({
  target: { domain: "Billing", name: "Invoice" },
  dir: path(sliceDir),
  pack: pythonPack,
  controller: true,
  registry: path(".features.json"),
  ...more,
});

export const featureContract = (more: Partial<ContractInput> = {}): Contract =>
  Contract.parse({
    id: "Invoice",
    title: "Billing/Invoice",
    goal: "g",
    allowed: [
      `${sliceDir}/**`,
      ...["__init__", "Schema", "Handler", "Controller", "Tests"].map((name) => `${sliceDir}/${name}.py`),
    ],
    protected: [`${sliceDir}/spec.md`, "pyproject.toml", ".python-version"],
    ...more,
  });

export const report = (more: Partial<WorkerReport> = {}): WorkerReport => ({
  kind: "done",
  summary: "did it",
  claims: [],
  concerns: [],
  refused: [],
  problems: [],
  usage: zeroUsage,
  durationMs: 1,
  ...more,
});

export interface InputFacts {
  readonly before?: Readonly<Record<string, string>>;
  /** The whole tree afterwards; a name that is missing was deleted. */
  readonly after?: Readonly<Record<string, string>>;
  /** Takes the place of the computed change's files. */
  readonly files?: readonly ChangedFile[];
  readonly contract?: Contract;
  readonly slice?: SliceFacts | undefined;
  readonly report?: WorkerReport;
  readonly soFar?: readonly Finding[];
  /** 1 without it. */
  readonly attempt?: number;
  readonly earlier?: readonly string[];
}

/** What a gate is given, over two sets of texts. */
export function gateInput(facts: InputFacts = {}): GateInput & { readonly sink: RecordingSink } {
  const before = new Map(Object.entries(facts.before ?? {}));
  const after = new Map(Object.entries(facts.after ?? facts.before ?? {}));
  const computed = changeOf("base", before, after);
  const change: Change = facts.files === undefined ? computed : { ...computed, files: facts.files };
  const bytes = (text: string | undefined): Promise<Uint8Array | undefined> =>
    Promise.resolve(text === undefined ? undefined : new TextEncoder().encode(text));
  return {
    contract: facts.contract ?? featureContract(),
    attempt: facts.attempt ?? 1,
    ...(facts.earlier === undefined ? {} : { earlier: facts.earlier }),
    root: absPath("/repo"),
    change,
    ...(facts.report === undefined ? {} : { report: facts.report }),
    ...(facts.slice === undefined ? {} : { slice: facts.slice }),
    soFar: facts.soFar ?? [],
    attemptDir: { relative: "Invoice/attempt-1", absolute: absPath("/runs/r-1/Invoice/attempt-1") },
    sink: new RecordingSink(),
    read: (at) => bytes(after.get(at)),
    readBase: (at) => bytes(before.get(at)),
  };
}

/** What a gate found, short: `FAIL rule path:line`; `skipped: why` or `broken: why` when it did not run. */
export async function found(gate: Gate, facts: InputFacts | GateInput): Promise<readonly string[]> {
  const input = "sink" in facts ? facts : gateInput(facts);
  const result = await gate.run(input, new AbortController().signal);
  if (result.kind === "skipped") return [`skipped: ${result.why}`];
  if (result.kind === "broken") return [`broken: ${result.error.message}`];
  return result.findings.map(short);
}

export function short({ severity, rule, path: at, line }: Finding): string {
  return `${severity} ${rule}${at === undefined ? "" : ` ${at}`}${line === undefined ? "" : `:${line}`}`;
}

function path(text: string): RepoPath {
  const at = repoPath(text);
  if (at === undefined) throw new TypeError(`no repository path: ${text}`);
  return at;
}
