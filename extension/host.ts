// Everything behind the entry: made once per window, on first use. It owns the sessions (one a folder) and wires what
// they say to what a person sees. Commands come in through `run`.
import type * as vscode from "vscode";
import { DisposableStore } from "../shared/base/disposable.ts";
import { grantedModelEnv } from "../shared/model/model-ids.ts";
import type { Starter } from "../shared/runner/client.ts";
import { createChat } from "./chat.ts";
import { Changes } from "./changes.ts";
import { CommandRunner } from "./command-runner.ts";
import { setContexts } from "./context-keys.ts";
import { createFeatures, type FeatureRow } from "./features.ts";
import { FeaturesView } from "./features-view.ts";
import { InboxView } from "./inbox-view.ts";
import { grantedModel } from "./granted-model.ts";
import { createInputs } from "./inputs.ts";
import { createKeys, type Keys } from "./keys.ts";
import { createLog } from "./log.ts";
import { ModelLane } from "./model-lane.ts";
import { registerLenses } from "./lenses.ts";
import { Models } from "./models.ts";
import { News } from "./news.ts";
import { placeOf, starterOf } from "./place.ts";
import { Problems } from "./problems.ts";
import { registerQuickFixes } from "./quick-fixes.ts";
import { runQa } from "./read-commands.ts";
import { Questions } from "./questions.ts";
import { createRuleLinks } from "./rule-links.ts";
import { RunsView } from "./runs-view.ts";
import { Sessions } from "./sessions.ts";
import { watchSettings } from "./settings.ts";
import { createStatusItem } from "./status-item.ts";
import type { StatusView } from "./status.ts";
import { registerTasks } from "./tasks.ts";
import { TestsView } from "./tests-view.ts";
import { titlesOf } from "./titles.ts";
import type { Texts } from "./texts.ts";
import { createTools, type Tools } from "./tools.ts";
import type { Vscode } from "./vscode-api.ts";

export interface Host {
  /** Resolves once the runs that were there have been read. */
  readonly ready: Promise<void>;
  run(command: string, args: readonly unknown[]): Promise<unknown>;
  readonly chat: vscode.ChatRequestHandler;
  readonly tools: Tools;
  readonly models: Models;
  /** The texts that diffs show. */
  readonly texts: Texts;
  readonly tests: TestsView;
  readonly sessions: Sessions;
  readonly status: () => StatusView;
  readonly keys: Keys;
  featuresOf(): Promise<readonly FeatureRow[]>;
  /** Answers a pending question as its picker would. */
  answerWith(run: string, ask: string, choice: string): Promise<boolean>;
  /** Runs `work` with another runner bundle: for tests of a damaged installation. */
  withRunner<T>(entry: string, work: () => Promise<T>): Promise<T>;
}

export function createHost(vscode: Vscode, context: vscode.ExtensionContext): Host {
  const store = new DisposableStore();
  context.subscriptions.push(store);
  const place = placeOf(context);
  const titleOf = titlesOf(context.extension.packageJSON);
  const log = store.add(createLog(vscode));
  const keys = createKeys(vscode, context.secrets);
  let { runner } = place;
  const own = async (): Promise<Starter> => starterOf(vscode, place, await keys.all());
  const cli = async (): Promise<Starter> => ({ ...(await own()), entry: place.cli });
  // For runs alone: a short command has no run whose requests a window could answer with that model.
  const starter = async (): Promise<Starter> => {
    const started = await own();
    const granted = await grantedModel(vscode, context.languageModelAccessInformation, lane);
    const env = granted === undefined ? started.env : { ...started.env, [grantedModelEnv]: granted };
    return { ...started, entry: runner, env };
  };
  const features = createFeatures(vscode, cli);
  const links = createRuleLinks(vscode, place.root);
  const sessions = store.add(new Sessions(vscode, (error) => log.error(error)));
  const all = () => sessions.all;
  const status = store.add(createStatusItem(vscode));
  const runsView = store.add(new RunsView(vscode, all));
  const featuresView = store.add(new FeaturesView(vscode, features, all));
  const inboxView = store.add(new InboxView(vscode, all));
  const problems = store.add(new Problems(vscode, links));
  const questions = store.add(new Questions(vscode, (run) => commands.resume(run)));
  const changes = new Changes(vscode, async (id) => {
    await ready;
    const session = sessions.ofRun(id);
    const run = session?.feed.get(id);
    return session === undefined || run === undefined ? undefined : { session, run };
  });
  const inputs = createInputs(vscode, context.workspaceState, features, titleOf);
  const lane = store.add(new ModelLane(vscode, log));
  const commands = new CommandRunner({
    vscode,
    memory: context.workspaceState,
    keys,
    starter,
    cli,
    sessions,
    inputs,
    questions,
    changes,
    problems,
    featuresView,
    log,
    place,
    titleOf,
  });
  const tests = store.add(
    new TestsView({ vscode, sessions, features, qa: (session, words) => runQa(commands, session, words) }),
  );
  store.add(watchSettings(vscode));
  store.add(registerQuickFixes(vscode));
  store.add(registerLenses(vscode, sessions));
  store.add(registerTasks(vscode, sessions, cli));
  const news = new News({ vscode, log, questions, changes, lane, featuresView, commands, tests });

  const paint = (): void => {
    const runs = all().flatMap(({ feed }) => feed.runs);
    const open = all().flatMap(({ feed }) => feed.open);
    status.paint(
      runs.filter(({ state }) => state.seq > 0),
      open,
    );
    runsView.paint();
    inboxView.paint();
    setContexts(vscode, runs, open);
  };
  store.add(
    sessions.onOpened.on((session) => {
      session.feed.onNews.on((one) => news.take(session, one));
      session.feed.onPaint.on(() => {
        paint();
        problems.paint(session);
      });
      void links.load(session).then(() => problems.paint(session));
      void featuresView.watch(session);
    }),
  );
  store.add(
    sessions.onClosed.on((session) => {
      problems.clear(session);
      featuresView.refresh();
      paint();
    }),
  );
  const ready = (async () => {
    await links.load();
    await sessions.open();
    featuresView.refresh();
    paint();
  })();
  return {
    ready,
    run: async (command, args) => {
      await ready;
      return commands.run(command, args);
    },
    chat: createChat(vscode, commands, sessions),
    models: new Models({ vscode, cli, sessions }),
    texts: changes.texts,
    tests,
    tools: createTools(vscode, commands, sessions),
    sessions,
    status: () => status.view,
    keys,
    featuresOf: async () => (await Promise.all(all().map((session) => features.list(session)))).flat(),
    answerWith: async (run, ask, choice) => {
      const found = sessions.ofRun(run)?.feed.get(run);
      return found !== undefined && questions.drop(found, ask, { choice });
    },
    async withRunner(entry, work) {
      runner = entry;
      try {
        return await work();
      } finally {
        runner = place.runner;
      }
    },
  };
}
