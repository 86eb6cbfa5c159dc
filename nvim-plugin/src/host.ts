import { type Disposable, DisposableStore } from "../../shared/base/disposable.ts";
import { OrchError } from "../../shared/model/error.ts";
import { openAsks } from "../../shared/events/open-runs.ts";
import { resumeRun } from "../../shared/runner/client.ts";
import { dropReply } from "../../shared/runner/drop.ts";
import { realPath, repositoryRoot } from "../../shared/runner/host-files.ts";
import { runnerAlive } from "../../shared/runner/tail.ts";
import type { Channel, Message } from "./channel.ts";
import { attemptDiff } from "./changes.ts";
import { carryOut } from "./commands.ts";
import { getLogger } from "./logger.ts";
import { type Place, placeOf } from "./place.ts";
import { askOf, Repository } from "./repository.ts";

/** What the co-process does for one Neovim. Repositories are opened as commands name folders of them. */
export interface Host extends Disposable {
  handle(message: Message, signal: AbortSignal): Promise<unknown>;
}

export interface Params {
  text(name: string): string;
  flag(name: string): boolean;
  texts(name: string): readonly string[];
  /** A table of its own; empty when it is none. */
  part(name: string): Params | undefined;
  number(name: string): number | undefined;
}

type Method = (hosted: Hosted, repository: Repository, params: Params, signal: AbortSignal) => Promise<unknown>;

export interface Hosted {
  readonly place: Place;
  /** Short commands that are being answered, by name: `:Orch cancel` ends them. */
  readonly short: Map<AbortController, string>;
}

const methods: Readonly<Record<string, Method>> = {
  command: carryOut,
  /** Takes the runs up, so that the statusline shows what is going on. */
  attach: async (_hosted, repository, params) => {
    await repository.start();
    for (const run of params.texts("own")) {
      const known = repository.feed.get(run);
      if (known !== undefined) repository.feed.adopt(run, known.dir);
    }
    return { root: repository.base, runs: repository.feed.runs.length };
  },
  async answer({ place }, repository, params) {
    const run = repository.feed.get(params.text("run"));
    if (run === undefined) throw new OrchError("run.unknown", `There is no run ${params.text("run")} here`);
    const [choice, text] = [params.text("choice"), params.text("text")];
    const stands = dropReply(run.dir, {
      v: 1,
      id: params.text("id"),
      by: "person",
      host: "nvim",
      at: Date.now(),
      ...(choice === "" ? {} : { choice }),
      ...(text === "" ? {} : { text }),
    });
    if (stands && !runnerAlive(run.dir)) await resumeRun(run.dir, place.runner);
    return { stands };
  },
  async asks(_hosted, repository) {
    await repository.start();
    return repository.feed.open.flatMap((run) => openAsks(run).map((ask) => askOf(run, ask, repository.base)));
  },
  async runs(_hosted, repository, params) {
    await repository.start();
    repository.showRuns(params.flag("on"));
    if (params.flag("on")) repository.repaint();
    return { root: repository.base };
  },
  fold: async (_hosted, repository, params) => repository.fold(params.text("run")),
  async log(_hosted, repository, params) {
    await repository.start();
    const named = params.text("run");
    if (!params.flag("on")) return repository.hideLog(named);
    const run = repository.showLog(named === "" ? undefined : named);
    if (run === undefined)
      throw new OrchError("run.unknown", named === "" ? "No run in this repository yet" : `There is no run ${named}`);
    return { run, root: repository.base };
  },
  async diff(_hosted, repository, params) {
    await repository.start();
    return { root: repository.base, ...(await attemptDiff(repository.feed.runs, repository.base, params.text("of"))) };
  },
};

export function createHost(channel: Channel, moduleUrl: string): Host {
  const store = new DisposableStore();
  const repositories = new Map<string, Repository>();
  const hosted: Hosted = { place: placeOf(moduleUrl), short: new Map() };
  const onError = (error: unknown): void => getLogger().error(error);

  const open = (folder: string): Repository => {
    const key = realPath(folder);
    const known = repositories.get(key);
    if (known !== undefined && (known.root !== undefined || repositoryRoot(key) === undefined)) return known;
    known?.dispose(); // a repository was made here meanwhile
    const made = new Repository(key, { stateDir: hosted.place.stateDir, tell: channel.emit, onError });
    // Two folders of one repository share its runs.
    const same = [...repositories.values()].find(({ base }) => base === made.base);
    if (same !== undefined) made.dispose();
    else store.add(made);
    repositories.set(key, same ?? made);
    return same ?? made;
  };

  return {
    async handle({ method, params = {} }, signal) {
      const carry = methods[method];
      if (carry === undefined) throw new OrchError("usage.unknown-command", `There is no method ${method}`);
      const read = paramsOf(params);
      const cwd = read.text("cwd");
      if (cwd === "") throw new OrchError("usage.invalid", `${method} needs a folder`);
      return carry(hosted, open(cwd), read, signal);
    },
    dispose() {
      for (const stop of hosted.short.keys()) stop.abort();
      store.dispose();
    },
  };
}

function paramsOf(value: object): Params {
  const of = (name: string): unknown => Reflect.get(value, name);
  return {
    text(name) {
      const found = of(name);
      return typeof found === "string" ? found : "";
    },
    flag: (name) => of(name) === true,
    texts(name) {
      const found = of(name);
      return Array.isArray(found) ? found.filter((one): one is string => typeof one === "string") : [];
    },
    number(name) {
      const found = of(name);
      return typeof found === "number" ? found : undefined;
    },
    part(name) {
      const found = of(name);
      return typeof found === "object" && found !== null && !Array.isArray(found) ? paramsOf(found) : undefined;
    },
  };
}
