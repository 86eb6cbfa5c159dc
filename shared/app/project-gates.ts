import { isPlainWord, secretsOf } from "../adapters/redact.ts";
import { judgeOff } from "../adapters/judge-off.ts";
import { createThreadPool } from "../adapters/pool-threads.ts";
import { createTreeSitterSyntax } from "../adapters/syntax-tree-sitter.ts";
import { createTestRunner } from "../adapters/test-runner.ts";
import { checkEnvironment } from "../adapters/test-runner-env.ts";
import { type AbsPath, inRoot, repoPath } from "../base/paths.ts";
import { checkSpec } from "../features/spec-check.ts";
import { createGates } from "../gates/gates.ts";
import type { BrokenRule, PatternRow } from "../model/rule.ts";
import type { RuleSettings } from "../ports/pool.ts";
import type { Bystanders } from "../ports/bystanders.ts";
import type { ConfineCheck } from "../ports/sandbox.ts";
import type { TestRunner } from "../ports/test-runner.ts";
import { createRedact } from "../prompts/redact.ts";
import { loadRules, type Rulebook } from "../rulebook/load.ts";
import { createRuleRunner } from "../rulebook/run.ts";
import { configuredKeys } from "./configured-keys.ts";
import type { RepoContext } from "./context.ts";
import type { ProjectGates } from "./do-context.ts";
import { exactSyntaxOf } from "./exact-syntax.ts";
import { openBystanders } from "./open-bystanders.ts";
import { leftOutHint } from "./left-out-rules.ts";
import { projectPacks } from "./project-packs.ts";
import { projectRules } from "./project-rules.ts";
import { toldRules } from "./told-rules.ts";
import { createConfinements, sandboxed } from "./sandbox.ts";

export interface GatesOfProject extends AsyncDisposable {
  readonly testRunner: TestRunner;
  readonly bystanders: Bystanders;
  load(): Promise<ProjectGates>;
}

/** One rulebook for the gates, for what a model is told, and for what is taken out of its prompt. */
export function createProjectGates(context: RepoContext): GatesOfProject {
  const { machine, process, files, runDir } = context;
  const home = inRoot(runDir, "home");
  const confine = createConfinements(context).check;
  const testRunner = sandboxed(createTestRunner({ process, files, machine, home, confine }), context);
  const bystanders = openBystanders(context);
  const pool = createThreadPool({ installRoot: machine.installRoot });
  let opened: { readonly gates: ProjectGates; readonly close: () => void } | undefined;
  return {
    testRunner,
    bystanders,
    async load() {
      opened ??= await open(context, { testRunner, bystanders, pool, confine, env: checkEnvironment(machine, home) });
      return opened.gates;
    },
    async [Symbol.asyncDispose]() {
      opened?.close();
      await pool[Symbol.asyncDispose]();
    },
  };
}

interface Parts {
  readonly testRunner: TestRunner;
  readonly bystanders: Bystanders;
  readonly pool: ReturnType<typeof createThreadPool>;
  readonly confine: ConfineCheck;
  readonly env: Readonly<Record<string, string>>;
}

async function open(
  context: RepoContext,
  parts: Parts,
): Promise<{ readonly gates: ProjectGates; readonly close: () => void }> {
  const settings: RuleSettings = await projectRules(context);
  const book = loadRules(settings);
  const tell = teller(context);
  tell(book.broken);
  const syntax = createTreeSitterSyntax(context.machine.installRoot);
  const runner = createRuleRunner(book, syntax);
  const packs = await projectPacks(context);
  const worktrees = new Map<AbsPath, string>();
  const gates = createGates({
    book,
    syntax,
    runner,
    pool: {
      async audit(...call) {
        const answers = await parts.pool.audit(...call);
        // Queries are compiled on the threads, so what is wrong with one is known only now.
        tell(parts.pool.broken(settings));
        return answers;
      },
    },
    settings,
    listFiles: async (root) => {
      const commit = worktrees.get(root);
      if (commit !== undefined) return context.git.filesAt(commit);
      return root === context.root ? context.git.listFiles() : filesBelow(context, root);
    },
    checkSpec,
    exact: exactSyntaxOf(packs, { process: context.process, env: parts.env, cwd: context.runDir }),
    tests: parts.testRunner,
    process: context.process,
    env: parts.env,
    confine: parts.confine,
    bystanders: parts.bystanders,
    ids: context.ids,
    judge: judgeOff,
    limits: { acceptRevise: context.config.judge.accept_revise, acceptWarn: context.config.judge.accept_warn },
  });
  return {
    gates: {
      gates,
      rules: (lang) => toldRules(book, lang),
      redact: createRedact(secretRows(book), knownSecrets(context)),
      madeOf: (root, commit) => void worktrees.set(root, commit),
    },
    close: () => runner[Symbol.dispose](),
  };
}

/** Names each rule that had to be left out, once. */
function teller({ editor }: RepoContext): (rules: readonly BrokenRule[]) => void {
  const told = new Set<string>();
  return (rules) => {
    for (const broken of rules) {
      const { path, line, rule, reason } = broken;
      const text = `${path}:${line}${rule === undefined ? "" : ` (${rule})`}: ${reason}`;
      if (told.has(text)) continue;
      told.add(text);
      editor.notify({ severity: "warning", text, hint: leftOutHint(broken) });
    }
  };
}

/** Keys this process was given: one of them in a file of the repository has no business in a prompt, whatever its shape. */
function knownSecrets({ config, machine }: RepoContext): readonly string[] {
  return [...secretsOf(machine.env), ...configuredKeys(config, machine.env).filter((value) => !isPlainWord(value))];
}

/** The files of a tree that is no checkout: all of them are part of it. */
async function filesBelow(
  { files }: RepoContext,
  root: RepoContext["root"],
): Promise<readonly NonNullable<ReturnType<typeof repoPath>>[]> {
  const found: NonNullable<ReturnType<typeof repoPath>>[] = [];
  const pending = [""];
  for (let folder = pending.pop(); folder !== undefined; folder = pending.pop()) {
    for (const { name, kind } of (await files.list(inRoot(root, folder))) ?? []) {
      const path = folder === "" ? name : `${folder}/${name}`;
      const checked = repoPath(path);
      if (checked === undefined) continue;
      if (kind === "directory") pending.push(path);
      else found.push(checked);
    }
  }
  return found;
}

/** The tables of the rules that never show what they found are the tables of secrets. */
function secretRows(book: Rulebook): readonly PatternRow[] {
  return book.sets
    .flatMap(({ rules }) => rules)
    .filter(({ rule }) => "redact" in rule && rule.redact)
    .flatMap(({ rows }) => rows)
    .map(({ regex, name, unless, entropy }) => ({
      pattern: regex.source,
      flags: regex.flags.replaceAll(/[^isu]/g, ""),
      ...(name === undefined ? {} : { name }),
      ...(unless === undefined ? {} : { unless: unless.source }),
      ...(entropy === undefined ? {} : { entropy }),
    }));
}
