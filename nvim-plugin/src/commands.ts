import { type Command, commands, isCommandName } from "../../shared/app/commands.ts";
import { type Given, readGiven } from "../../shared/app/given-words.ts";
import { plain } from "../../shared/events/words.ts";
import { isResumable } from "../../shared/events/standing.ts";
import { Finding } from "../../shared/model/finding.ts";
import { OrchError } from "../../shared/model/error.ts";
import type { ActiveBuffer } from "../../shared/model/run-files.ts";
import { resumeRun, startRun } from "../../shared/runner/client.ts";
import { dropControl } from "../../shared/runner/drop.ts";
import { knownFeatures, runIdAt } from "../../shared/runner/host-files.ts";
import { type FollowedRun, isActive } from "../../shared/runner/run-feed.ts";
import { type CommandDocument, listIn, shortCommand } from "../../shared/runner/short-command.ts";
import { itemOf } from "./findings.ts";
import type { Hosted, Params } from "./host.ts";
import type { Repository } from "./repository.ts";

interface Order {
  readonly hosted: Hosted;
  readonly repository: Repository;
  readonly command: Command;
  readonly given: Given;
  /** `:Orch!`: no confirmation. Never grants trust. */
  readonly bang: boolean;
  readonly cwd: string;
  readonly buffer: ActiveBuffer | undefined;
  readonly signal: AbortSignal;
}

/** `qa` of a large repository and `wait` take their time; a person ends them with `:Orch cancel`. */
const shortMs = 60 * 60_000;

/**
 * One `:Orch {subcommand}`. Answers as soon as a run is started, or with what a short process said. What the table has
 * no row of its own here for goes the way of its kind, so a new command works without a change.
 */
export async function carryOut(
  hosted: Hosted,
  repository: Repository,
  params: Params,
  signal: AbortSignal,
): Promise<object> {
  const name = params.text("name");
  if (!isCommandName(name)) throw new OrchError("usage.unknown-command", `there is no command "${name}"`);
  const command: Command = commands[name];
  const order: Order = {
    hosted,
    repository,
    command,
    given: await intended(command, repository, { text: params.text("args"), cwd: params.text("cwd") }),
    bang: params.flag("bang"),
    cwd: params.text("cwd"),
    buffer: bufferOf(params.part("buffer")),
    signal,
  };
  // The statusline shows from now on what goes on here, whoever began it.
  if (repository.root !== undefined) void repository.start();
  const own = special[name];
  if (own !== undefined) return own(order);
  return command.kind === "run" ? start(order) : answered(order);
}

const special: Readonly<Record<string, (order: Order) => Promise<object>>> = {
  /** In a terminal of its own: its lines stay on screen and can be copied. */
  demo: async ({ hosted: { place }, given }) => ({
    kind: "terminal",
    argv: [place.cli.execPath, "--disable-warning=ExperimentalWarning", place.cli.entry, "demo", ...given.flags],
  }),
  async cancel(order) {
    const { repository, given, hosted } = order;
    await repository.start();
    if (given.words.length === 0 && hosted.short.size > 0) {
      const names = [...hosted.short.values()];
      for (const stop of hosted.short.keys()) stop.abort();
      return said(`${names.join(", ")} cancelled`);
    }
    const fits = repository.feed.runs.filter((run) => isActive(run) || isResumable(run.standing));
    const active = given.words.length === 0 ? fits.filter(isActive) : fits;
    const run = one(order, active, "Nothing runs here");
    if (run === undefined) return choose(active);
    if (!isActive(run)) return answered({ ...order, given: { ...given, words: [run.run] } });
    dropControl(run.dir, { v: 1, verb: "cancel", target: run.run, host: "nvim", at: Date.now() });
    return { kind: "started", run: run.run, command: "cancel" };
  },
  async resume(order) {
    const { repository, hosted } = order;
    await repository.start();
    // What was left behind is resumed by whoever names it.
    const { runs, open } = repository.feed;
    const fits = (order.given.words.length === 0 ? open : runs).filter(({ standing }) => isResumable(standing));
    const run = one(order, fits, "There is no run to continue");
    if (run === undefined) return choose(fits);
    await resumeRun(run.dir, hosted.place.runner);
    repository.feed.adopt(run.run, run.dir);
    return { kind: "started", run: run.run, command: "resume" };
  },
  async reply(order) {
    if (order.given.words.length > 0) return answered(order);
    return { kind: "asks" };
  },
  /** What would be trusted is shown first; the hash that was seen is the hash that is trusted. */
  async trust(order) {
    const document = await short(order, order.given.flags);
    const hash = /\b[0-9a-f]{64}\b/.exec(`${document.error?.message ?? ""} ${document.error?.hint ?? ""}`)?.[0];
    if (document.error?.code !== "trust.needed" || hash === undefined) return told(order, document);
    const words = plain(document.error.message).replace(/ Its content is [0-9a-f]{64}\.?/, "");
    return { kind: "trust", hash, words, root: order.repository.base };
  },
};

function one({ given }: Order, fits: readonly FollowedRun[], none: string): FollowedRun | undefined {
  const [named] = given.words;
  if (named !== undefined) {
    const found = fits.find(({ run }) => run === named);
    if (found === undefined) throw new OrchError("run.unknown", `${named} is not among the runs that can`);
    return found;
  }
  if (fits.length === 0) throw new OrchError("run.unknown", none);
  return fits.length === 1 ? fits[0] : undefined;
}

function choose(runs: readonly FollowedRun[]): object {
  const choices = runs.map(({ run, state, standing }) => ({
    id: run,
    label: plain(`${state.command} ${state.title === state.command ? "" : state.title}`.trim() + `, ${standing}`),
  }));
  return { kind: "choose", choices };
}

// --- runs ------------------------------------------------------------------------------------------------------------

async function start(order: Order): Promise<object> {
  const { hosted, repository, command, given, bang, cwd, buffer } = order;
  if (repository.root === undefined && command.anywhere !== true)
    throw new OrchError("git.not-a-repository", `${cwd} is not in a git repository`);
  const args = {
    words: [...given.words],
    ...given.options,
    ...(bang && command.options.includes("yes") ? { yes: true } : {}),
  };
  const started = await startRun(
    {
      v: 1,
      command: command.name,
      args,
      cwd,
      host: "nvim",
      at: Date.now(),
      ...(buffer === undefined ? {} : { activeBuffer: buffer }),
    },
    { ...hosted.place.runner, runsDirs: repository.runsDirs, ids: { next: () => runIdAt(Date.now()) } },
  );
  repository.feed.adopt(started.run, started.dir);
  void repository.start(); // made here just now: its runs are followed, too
  return { kind: "started", run: started.run, command: command.name };
}

/**
 * `:Orch modify add a discount`: nobody quotes a sentence in Neovim. When the first of several words names no feature,
 * all of them are the prompt, which the table's rule takes for one when it is a single argument with blanks.
 */
async function intended(
  command: Command,
  { base }: Repository,
  { text, cwd }: { readonly text: string; readonly cwd: string },
): Promise<Given> {
  const given = readGiven(command, text);
  const [first, prompt] = command.args;
  const sentence =
    command.name === "modify" && first?.required === false && prompt?.many === true && given.words.length > 1;
  if (!sentence) return given;
  const [word = ""] = given.words;
  const features = await knownFeatures(cwd, base);
  if (word.includes("/") || /\s/.test(word) || features.includes(word)) return given;
  return { ...given, words: [given.words.join(" ")] };
}

function bufferOf(buffer: Params | undefined): ActiveBuffer | undefined {
  if (buffer === undefined) return undefined;
  const changed = buffer.flag("changed");
  const [startLine, endLine] = [buffer.number("first"), buffer.number("last")];
  const changedtick = buffer.number("tick");
  return {
    path: buffer.text("path"),
    changed,
    ...(changedtick === undefined ? {} : { changedtick }),
    ...(changed ? { text: buffer.text("text") } : {}),
    ...(startLine === undefined || endLine === undefined ? {} : { selection: { startLine, endLine } }),
  };
}

// --- short commands --------------------------------------------------------------------------------------------------

async function answered(order: Order): Promise<object> {
  const { given, command, bang } = order;
  const yes = bang && command.options.includes("yes") && !given.flags.includes("--yes") ? ["--yes"] : [];
  return told(order, await short(order, [...given.flags, ...yes, "--", ...given.words]));
}

async function short({ hosted, command, cwd, signal }: Order, args: readonly string[]): Promise<CommandDocument> {
  const stop = new AbortController();
  hosted.short.set(stop, command.name);
  try {
    const order = { starter: hosted.place.cli, command: command.name, cwd, timeoutMs: shortMs };
    // Flags of this host come first: what follows `--` are words.
    return await shortCommand({ ...order, args }, AbortSignal.any([stop.signal, signal]));
  } finally {
    hosted.short.delete(stop);
  }
}

function told({ command, repository }: Order, document: CommandDocument): object {
  const { ok, code, summary, next, error, data } = document;
  const items = listIn(data, "findings").flatMap((row) => {
    const parsed = Finding.safeParse(row);
    return parsed.success ? [itemOf(parsed.data, repository.base, repository.base)] : [];
  });
  return {
    kind: "document",
    command: command.name,
    ok,
    code,
    summary: plain(summary),
    next,
    lines: linesOf(data),
    findings: command.name === "qa" || items.length > 0,
    items,
    ...(error === undefined
      ? {}
      : { error: { code: error.code, message: plain(error.message), hint: plain(error.hint), at: error.at ?? "" } }),
  };
}

/** `data.text` is the plain form of a document that has one. */
function linesOf(data: unknown): readonly string[] {
  const text: unknown = typeof data === "object" && data !== null ? Reflect.get(data, "text") : undefined;
  return Array.isArray(text) ? text.map(String) : [];
}

function said(summary: string): object {
  return { kind: "document", command: "", ok: true, code: 0, summary, next: [], lines: [], findings: false, items: [] };
}
