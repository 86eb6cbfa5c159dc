import path from "node:path";
import { commands } from "../shared/app/commands.ts";
import { readWords } from "../shared/app/given-words.ts";
import type { CommandRunner } from "./command-runner.ts";
import { type InboxRow, waiting } from "./inbox-view.ts";
import { connectModel } from "./connect-model.ts";
import type { FeatureItem } from "./features-view.ts";
import { pickCommand, pickOptions } from "./options.ts";
import { attemptOf, contractOfRow, gateOf, type RunRow } from "./runs-view.ts";
import type { FollowedRun } from "../shared/runner/run-feed.ts";
import type { Session } from "./session.ts";
import { pickWorker } from "./workers.ts";

type Carry = (runner: CommandRunner, args: readonly unknown[]) => Promise<unknown>;

/** Commands of the editor alone: `.ci/manifest/commands.mjs` names them. */
const table: Readonly<Record<string, Carry>> = {
  "host.showRuns": async ({ deps }) => deps.vscode.commands.executeCommand("orch.view.runs.focus"),
  "host.showLog": async ({ deps }) => deps.log.channel.show(),
  "host.walkthrough": async ({ deps }) =>
    deps.vscode.commands.executeCommand("workbench.action.openWalkthrough", "orch.orch#start", false),
  "host.setKey": async ({ deps }) => deps.keys.askAndStore(),
  "host.removeKey": async ({ deps }) => deps.keys.askAndRemove(),
  "host.connectModel": (runner) => connectModel(runner),
  "host.refresh": async ({ deps }) => deps.featuresView.refresh(),
  "host.lastDiff": (runner, args) => lastDiff(runner, args),
  "run.cancel": async (runner, args) => withRun(runner, args, async (run) => runner.cancel(run)),
  "run.resume": async (runner, args) => withRun(runner, args, async (run) => runner.resume(run)),
  "run.open": async (runner, args) =>
    withRun(runner, args, async (run) => open(runner, path.join(run.dir, "events.jsonl"))),
  "attempt.prompt": (runner, args) => openOfAttempt(runner, args, ["prompt.md"]),
  "attempt.transcript": (runner, args) => openOfAttempt(runner, args, ["transcript.jsonl", "reply.md", "report.json"]),
  "attempt.report": (runner, args) => openOfAttempt(runner, args, ["guard.json"]),
  "attempt.feedback": (runner, args) => openOfAttempt(runner, args, ["feedback.md"]),
  "attempt.diff": (runner, args) =>
    withRow(args, async (row, run) => {
      const attempt = attemptOf(run, row.node.id);
      const contract = contractOfRow(run, row.node.id);
      if (attempt === undefined || contract === undefined) return false;
      return runner.deps.changes.open(row.session, run, contract, attempt);
    }),
  "attempt.apply": (runner, args) =>
    withRow(args, async (row) => runner.run("orch.apply", [{ words: [row.node.id], session: row.session }])),
  "gate.log": (runner, args) =>
    withRow(args, async (row, run) => {
      const log = gateOf(run, row.node.id)?.log;
      return log === undefined ? undefined : open(runner, path.join(run.dir, log.path));
    }),
  "finding.open": async (runner, args) => openPlace(runner, args),
  "decision.answer": (runner, args) => answer(runner, args),
  "feature.spec": async (runner, args) => {
    const item = args[0] as FeatureItem | undefined;
    return item === undefined ? undefined : open(runner, path.join(item.session.base, item.feature.dir, "spec.md"));
  },
  "feature.do": async (runner, args) => onFeature(runner, args, "do"),
  "feature.merge": async (runner, args) => onFeature(runner, args, "merge"),
  "feature.doWithAgent": (runner, args) => doWithAgent(runner, args),
  "host.withOptions": (runner) => withOptions(runner),
};

export async function runHostCommand(runner: CommandRunner, name: string, args: readonly unknown[]): Promise<unknown> {
  const carry = table[name];
  if (carry === undefined) throw new TypeError(`no such command: orch.${name}`);
  return carry(runner, args);
}

async function lastDiff(runner: CommandRunner, args: readonly unknown[]): Promise<unknown> {
  const { changes, sessions, vscode } = runner.deps;
  const [named] = args;
  for (const session of sessions.all) {
    for (const run of session.feed.runs.filter((one) => typeof named !== "string" || one.run === named)) {
      for (const contract of run.state.contracts.toReversed()) {
        const attempt = contract.attempts.findLast(({ change }) => change?.patch !== undefined);
        if (attempt !== undefined) return changes.open(session, run, contract.id, attempt);
      }
    }
  }
  const { t } = vscode.l10n;
  void vscode.window.showInformationMessage(
    t("No run of this folder changed anything yet. Do a feature first, or run the demo."),
  );
  return false;
}

async function answer(runner: CommandRunner, args: readonly unknown[]): Promise<unknown> {
  const { questions, sessions } = runner.deps;
  const rows = waiting(sessions.all);
  const row = rows.find((one) => isFor(one, args[0])) ?? (args[0] === undefined ? rows[0] : undefined);
  if (row === undefined) return runner.run("orch.reply", []);
  await questions.answer(row.run, row.ask, row.session.feed);
  return row.ask.id;
}

/** A row of the inbox, of the runs view (`run/ask`), or `{run, ask}` of a link. */
function isFor({ run, ask }: InboxRow, value: unknown): boolean {
  if (typeof value !== "object" || value === null) return false;
  const part = (name: string): unknown => Reflect.get(value, name);
  const node = part("node");
  if (typeof node === "object" && node !== null) return Reflect.get(node, "id") === `${run.run}/${ask.id}`;
  const named = part("ask");
  const id: unknown = typeof named === "object" && named !== null ? Reflect.get(named, "id") : named;
  return id === ask.id;
}

async function onFeature(runner: CommandRunner, args: readonly unknown[], name: "do" | "merge"): Promise<unknown> {
  const item = args[0] as FeatureItem | undefined;
  return runner.run(
    `orch.${name}`,
    item === undefined ? [] : [{ words: [item.feature.target], session: item.session }],
  );
}

/** `do` with a worker: the one question that its plain way does not ask. */
async function doWithAgent(runner: CommandRunner, args: readonly unknown[]): Promise<unknown> {
  const item = args[0] as FeatureItem | undefined;
  if (runner.isRestricted(commands.do)) return undefined;
  const session = item?.session ?? (await runner.session());
  if (session === undefined) return undefined;
  const worker = await pickWorker(runner, session, commands.do);
  if (worker === undefined) return undefined;
  const words = item === undefined ? [] : [item.feature.target];
  return runner.run("orch.do", [{ words, session, overrides: worker === "" ? {} : { worker } }]);
}

/** Any command of the table with any of its options: what the palette's own way does not ask. */
async function withOptions(runner: CommandRunner): Promise<unknown> {
  const command = await pickCommand(runner);
  if (command === undefined || runner.isRestricted(command)) return undefined;
  const session = await runner.session();
  if (session === undefined) return undefined;
  const picked = await pickOptions(runner, command, session);
  if (picked === undefined) return undefined;
  const { words, options, flags } = readWords(command, picked);
  const { prompt, ...overrides } = options;
  return runner.run(`orch.${command.name}`, [{ words, prompt, session, overrides, flags }]);
}

async function openOfAttempt(
  runner: CommandRunner,
  args: readonly unknown[],
  names: readonly string[],
): Promise<unknown> {
  return withRow(args, async (row, run) => {
    const attempt = attemptOf(run, row.node.id);
    const contract = contractOfRow(run, row.node.id);
    if (attempt === undefined || contract === undefined) return undefined;
    const { vscode } = runner.deps;
    for (const name of names) {
      const at = path.join(run.dir, contract, `attempt-${attempt.attempt}`, name);
      if (await exists(runner, at)) return open(runner, at);
    }
    void vscode.window.showInformationMessage(vscode.l10n.t("This attempt left no {0}.", names[0] ?? ""));
    return undefined;
  });
}

/** `path[:line]` below a folder, or a finding's row. */
async function openPlace(runner: CommandRunner, args: readonly unknown[]): Promise<unknown> {
  const { sessions, vscode } = runner.deps;
  const [first] = args;
  const place = typeof first === "string" ? first : placeIn(first);
  const parts = /^(.+?)(?::(\d+))?$/.exec(place ?? "");
  const relative = parts?.[1];
  if (relative === undefined) return undefined;
  const session = isRow(first) ? first.session : sessions.all[0];
  const at = path.isAbsolute(relative) ? relative : path.join(session?.base ?? "/", relative);
  const line = Math.max(0, Number(parts?.[2] ?? 1) - 1);
  return vscode.commands.executeCommand("vscode.open", vscode.Uri.file(at), {
    selection: new vscode.Range(line, 0, line, 0),
  });
}

function placeIn(value: unknown): string | undefined {
  return isRow(value) ? /^(?:FAIL|WARN) \S+ (\S+): /.exec(value.node.label)?.[1] : undefined;
}

function isRow(value: unknown): value is RunRow {
  return typeof value === "object" && value !== null && "node" in value && "session" in value;
}

async function withRow<T>(
  args: readonly unknown[],
  use: (row: RunRow, run: FollowedRun) => Promise<T>,
): Promise<T | undefined> {
  const [row] = args;
  if (!isRow(row)) return undefined;
  const run = row.session.feed.get(row.run);
  return run === undefined ? undefined : use(row, run);
}

/** A run's row, or its id. */
async function withRun<T>(
  runner: CommandRunner,
  args: readonly unknown[],
  use: (run: FollowedRun, session: Session) => Promise<T>,
): Promise<T | undefined> {
  const [first] = args;
  const id = isRow(first) ? first.run : typeof first === "string" ? first : undefined;
  const session = id === undefined ? undefined : runner.deps.sessions.ofRun(id);
  const run = id === undefined ? undefined : session?.feed.get(id);
  return run === undefined || session === undefined ? undefined : use(run, session);
}

async function open(runner: CommandRunner, at: string): Promise<unknown> {
  const { vscode } = runner.deps;
  return vscode.commands.executeCommand("vscode.open", vscode.Uri.file(at), { preview: true });
}

async function exists(runner: CommandRunner, at: string): Promise<boolean> {
  try {
    await runner.deps.vscode.workspace.fs.stat(runner.deps.vscode.Uri.file(at));
    return true;
  } catch {
    return false;
  }
}
