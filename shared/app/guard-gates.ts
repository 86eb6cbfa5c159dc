import { judgeOff } from "../adapters/judge-off.ts";
import { createTreeSitterSyntax } from "../adapters/syntax-tree-sitter.ts";
import type { AbsPath } from "../base/paths.ts";
import { createGuardGates } from "../gates/guard.ts";
import type { Files } from "../ports/files.ts";
import type { Gate } from "../ports/gate.ts";
import type { Ids } from "../ports/ids.ts";
import type { Judge } from "../ports/judge.ts";
import type { AuditFile, FileAnswer, RuleSettings } from "../ports/pool.ts";
import type { Process } from "../ports/process.ts";
import type { ConfineCheck } from "../ports/sandbox.ts";
import type { Syntax } from "../ports/syntax.ts";
import type { TestRunner } from "../ports/test-runner.ts";
import type { Change } from "../model/change.ts";
import type { Limits } from "../model/run.ts";
import { auditFile, auditText } from "../rulebook/audit-file.ts";
import { loadRules } from "../rulebook/load.ts";
import { createRuleRunner, type RuleRunner } from "../rulebook/run.ts";
import { settingsFor } from "../rulebook/settings-for.ts";

export interface GuardParts {
  readonly installRoot: AbsPath;
  readonly settings: RuleSettings;
  readonly files: Pick<Files, "read">;
  readonly tests: Pick<TestRunner, "run">;
  readonly process: Pick<Process, "run">;
  /** The check environment. */
  readonly env: Readonly<Record<string, string>>;
  /** Absent: checks run as the user. */
  readonly confine?: ConfineCheck;
  readonly ids: Ids;
  /** All files of a commit or tree, for names that collide. */
  readonly filesAt: (treeish: string) => Promise<readonly string[]>;
  readonly judge?: Judge;
  readonly limits?: Pick<Limits, "acceptRevise" | "acceptWarn">;
}

export interface Guard extends Disposable {
  /** Ordered; for `runGate`. */
  readonly gates: readonly Gate[];
}

/**
 * The gates of a contract over the installed and the project's rules: what `run`, `guard` and the evaluation use. Only
 * rules of the integrity group are asked, in this process: a worker's diff is small, and starting threads costs more.
 * Rules of a language are read when a change first holds a file of it.
 */
export function openGuard(parts: GuardParts): Guard {
  const syntax = createTreeSitterSyntax(parts.installRoot);
  const filesAt = onceEach(parts.filesAt);
  const open = new Map<string, OpenGates>();
  const gatesWith = (settings: RuleSettings): OpenGates => {
    const key = settings.sources.map(({ path }) => path).join("\0");
    const opened = open.get(key) ?? openGates({ ...parts, settings, filesAt }, syntax);
    open.set(key, opened);
    return opened;
  };
  const known = new WeakMap<Change, readonly Gate[]>();
  const gatesFor = (change: Change): readonly Gate[] => {
    const paths = change.files.flatMap(({ path, oldPath = path }) => [path, oldPath]);
    const gates = known.get(change) ?? gatesWith(settingsFor(parts.settings, paths)).gates;
    known.set(change, gates);
    return gates;
  };
  return {
    gates: gatesWith({ ...parts.settings, sources: [] }).gates.map(({ id, phase }, at) => ({
      id,
      phase,
      run(input, signal) {
        const gate = gatesFor(input.change)[at];
        if (gate === undefined) throw new TypeError(`no gate ${id}`);
        return gate.run(input, signal);
      },
    })),
    [Symbol.dispose]() {
      for (const { runner } of open.values()) runner[Symbol.dispose]();
    },
  };
}

interface OpenGates {
  readonly gates: readonly Gate[];
  readonly runner: RuleRunner;
}

function openGates(parts: GuardParts, syntax: Syntax): OpenGates {
  const book = loadRules(parts.settings, ["integrity"]);
  const runner = createRuleRunner(book, syntax);
  const gates = createGuardGates({
    book,
    runner,
    syntax,
    pool: { audit: (_, files, signal) => auditHere(parts.files, runner, files, signal) },
    settings: parts.settings,
    // The tree rules look at what the change brings; what lay there before is not the worker's.
    listFiles: () => Promise.resolve([]),
    tests: parts.tests,
    process: parts.process,
    env: parts.env,
    confine: parts.confine,
    ids: parts.ids,
    filesAt: parts.filesAt,
    judge: parts.judge ?? judgeOff,
    limits: parts.limits ?? { acceptRevise: 0.85, acceptWarn: 0.7 },
  });
  return { gates, runner };
}

/** Two gates ask about the same base. */
function onceEach(ask: GuardParts["filesAt"]): GuardParts["filesAt"] {
  let last: { readonly treeish: string; readonly answer: Promise<readonly string[]> } | undefined;
  return (treeish) => {
    if (last?.treeish !== treeish) last = { treeish, answer: ask(treeish) };
    return last.answer;
  };
}

async function auditHere(
  files: GuardParts["files"],
  runner: ReturnType<typeof createRuleRunner>,
  asked: readonly AuditFile[],
  signal: AbortSignal,
): Promise<readonly FileAnswer[]> {
  const answers: FileAnswer[] = [];
  for (const { path, at, role, text } of asked) {
    signal.throwIfAborted();
    const about = { path, ...(role === undefined ? {} : { role }) };
    if (text !== undefined) {
      answers.push(await auditText(runner, { ...about, text }));
      continue;
    }
    const bytes = await files.read(at);
    answers.push(
      bytes === undefined
        ? { kind: "skipped", path, why: "it is not there" }
        : await auditFile(runner, { ...about, bytes }),
    );
  }
  return answers;
}
