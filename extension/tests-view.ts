import path from "node:path";
import type * as vscode from "vscode";
import { type Disposable, DisposableStore } from "../shared/base/disposable.ts";
import { type Words, wordsIn } from "../shared/events/words.ts";
import type { GateState } from "../shared/events/run-state.ts";
import type { Features } from "./features.ts";
import type { RunNews } from "../shared/runner/run-feed.ts";
import type { Session } from "./session.ts";
import type { Sessions } from "./sessions.ts";
import { type CommandDocument, listIn, textIn } from "../shared/runner/short-command.ts";
import type { Vscode } from "./vscode-api.ts";

interface TestsDeps {
  readonly vscode: Vscode;
  readonly sessions: Sessions;
  readonly features: Features;
  readonly qa: (session: Session, words: readonly string[]) => Promise<CommandDocument>;
}

/** Features' tests and the gates of runs in the Test Explorer. Features can be run; gates are shown as runs judge. */
export class TestsView implements Disposable {
  readonly #deps: TestsDeps;
  readonly #words: Words;
  readonly #store = new DisposableStore();
  readonly #shown = new Set<string>();
  readonly controller: vscode.TestController;

  constructor(deps: TestsDeps) {
    this.#deps = deps;
    const { vscode } = deps;
    this.#words = wordsIn(vscode.l10n.t);
    this.controller = this.#store.add(vscode.tests.createTestController("orch", "Orch"));
    this.controller.resolveHandler = async (item) => {
      if (item !== undefined) return;
      await this.#list();
      this.#showNewest();
    };
    this.controller.refreshHandler = () => this.#list();
    this.#store.add(
      this.controller.createRunProfile(
        vscode.l10n.t("Run"),
        vscode.TestRunProfileKind.Run,
        (request, token) => this.#run(request, token),
        true,
      ),
    );
  }

  /** A verdict of a run: its gates become results. */
  take({ now, events }: RunNews): void {
    for (const parsed of events) {
      if (parsed.kind !== "event" || parsed.event.type !== "verdict.reached") continue;
      const { contract, attempt } = parsed.event;
      this.#shown.add(now.run);
      const state = now.state.contracts.find(({ id }) => id === contract);
      const gates = state?.attempts.find((one) => one.attempt === attempt)?.gates ?? [];
      const session = this.#deps.sessions.ofRun(now.run);
      if (state !== undefined && session !== undefined)
        this.#report(session, state.feature ?? state.title, attempt, gates);
    }
  }

  dispose(): void {
    this.#store.dispose();
  }

  /** A window that was opened after the run shows what its last attempts got, too. */
  #showNewest(): void {
    for (const session of this.#deps.sessions.all) {
      const judged = session.feed.runs.find(({ state }) =>
        state.contracts.some(({ attempts }) => attempts.at(-1)?.verdict !== undefined),
      );
      if (judged === undefined || this.#shown.has(judged.run)) continue;
      this.#shown.add(judged.run);
      for (const { feature, title, attempts } of judged.state.contracts) {
        const last = attempts.at(-1);
        if (last?.verdict !== undefined) this.#report(session, feature ?? title, last.attempt, last.gates);
      }
    }
  }

  async #list(): Promise<void> {
    const { features, sessions, vscode } = this.#deps;
    const root = this.#child(this.controller.items, "features", vscode.l10n.t("Features"));
    const items: vscode.TestItem[] = [];
    for (const session of sessions.all) {
      // Whoever asks for the features themselves is told why there are none.
      for (const feature of await features.list(session).catch(() => [])) {
        const uri = vscode.Uri.file(path.join(session.base, feature.dir, feature.testsFile));
        const id = `feature:${session.base}:${feature.target}`;
        const known = root.children.get(id);
        // The same item as before: a request to run it names the object, and its tests hang below it.
        const same = known?.uri?.toString() === uri.toString() ? known : undefined;
        items.push(same ?? this.controller.createTestItem(id, feature.target, uri));
      }
    }
    root.children.replace(items);
  }

  async #run(request: vscode.TestRunRequest, token: vscode.CancellationToken): Promise<void> {
    const { features, qa, sessions } = this.#deps;
    await this.#list();
    const wanted = request.include?.flatMap((item) =>
      item.children.size > 0 ? [...item.children].map(([, child]) => child) : [item],
    );
    const run = this.controller.createTestRun(request);
    for (const session of sessions.all) {
      for (const feature of await features.list(session).catch(() => [])) {
        const item = this.controller.items.get("features")?.children.get(`feature:${session.base}:${feature.target}`);
        if (item === undefined || (wanted !== undefined && !wanted.includes(item)) || token.isCancellationRequested)
          continue;
        run.started(item);
        this.#result(run, item, session, feature.target, await qa(session, [path.join(session.base, feature.dir)]));
      }
    }
    run.end();
  }

  #result(
    run: vscode.TestRun,
    item: vscode.TestItem,
    session: Session,
    target: string,
    document: CommandDocument,
  ): void {
    const { vscode } = this.#deps;
    const row = listIn(document.data, "tests").find((one) => textIn(one, "target") === target);
    const cases = row === undefined ? [] : listIn(row, "cases");
    const children: vscode.TestItem[] = [];
    for (const one of cases) {
      const name = textIn(one, "name");
      const child = this.controller.createTestItem(`${item.id}:${name}`, name, item.uri);
      const line = one["line"];
      if (typeof line === "number") child.range = new vscode.Range(line - 1, 0, line - 1, 0);
      children.push(child);
    }
    item.children.replace(children);
    for (const [index, one] of cases.entries()) {
      const child = children[index];
      if (child === undefined) continue;
      const outcome = textIn(one, "outcome");
      if (outcome === "passed") run.passed(child);
      else if (outcome === "skipped") run.skipped(child);
      else run.failed(child, this.#message(textIn(one, "message"), child));
      run.appendOutput(textIn(one, "output").replaceAll(/\r?\n/g, "\r\n"), undefined, child);
    }
    const outcome = row === undefined ? "not-run" : textIn(row, "outcome");
    const why = row === undefined ? (document.error?.message ?? document.summary) : textIn(row, "why");
    if (outcome === "passed") run.passed(item);
    else if (outcome === "failed") run.failed(item, new vscode.TestMessage(document.summary));
    else if (outcome === "broken" || document.error !== undefined) run.errored(item, new vscode.TestMessage(why));
    else {
      run.skipped(item);
      run.appendOutput(`${why}\r\n`, undefined, item);
    }
    run.appendOutput(`${session.folder.name}: ${document.summary}\r\n`, undefined, item);
  }

  #message(text: string, item: vscode.TestItem): vscode.TestMessage {
    const { vscode } = this.#deps;
    const message = new vscode.TestMessage(text);
    if (item.uri !== undefined)
      message.location = new vscode.Location(item.uri, item.range ?? new vscode.Position(0, 0));
    return message;
  }

  #report(session: Session, subject: string, attempt: number, gates: readonly GateState[]): void {
    const { vscode } = this.#deps;
    const root = this.#child(this.controller.items, "gates", vscode.l10n.t("Gates"));
    const contract = this.#child(root.children, `gates:${session.base}:${subject}`, subject);
    const run = this.controller.createTestRun(
      new vscode.TestRunRequest(),
      vscode.l10n.t("{0}, attempt {1}", subject, attempt),
      false,
    );
    const { findingText, gateText } = this.#words;
    for (const gate of gates) {
      const item = this.#child(contract.children, `${contract.id}:${gate.gate}`, gate.gate);
      run.appendOutput(`${gate.gate}: ${gateText(gate)}\r\n`, undefined, item);
      for (const finding of gate.findings) run.appendOutput(`${findingText(finding)}\r\n`, undefined, item);
      const fails = gate.findings.filter(({ severity }) => severity === "FAIL");
      if (gate.status === "broken") run.errored(item, new vscode.TestMessage(gateText(gate)), gate.ms);
      else if (fails.length > 0)
        run.failed(
          item,
          fails.map((finding) => this.#found(session, finding)),
          gate.ms,
        );
      // A warning does not fail a gate, and a pass would hide it.
      else if (gate.status === "skipped" || gate.findings.length > 0) run.skipped(item);
      else run.passed(item, gate.ms);
    }
    run.end();
  }

  #found(session: Session, finding: GateState["findings"][number]): vscode.TestMessage {
    const { vscode } = this.#deps;
    const message = new vscode.TestMessage(this.#words.findingText(finding));
    if (finding.path !== undefined) {
      const line = Math.max(0, (finding.line ?? 1) - 1);
      message.location = new vscode.Location(
        vscode.Uri.file(path.join(session.base, finding.path)),
        new vscode.Position(line, 0),
      );
    }
    return message;
  }

  #child(items: vscode.TestItemCollection, id: string, label: string): vscode.TestItem {
    const known = items.get(id);
    if (known !== undefined) return known;
    const item = this.controller.createTestItem(id, label);
    items.add(item);
    return item;
  }
}
