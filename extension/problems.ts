import path from "node:path";
import type * as vscode from "vscode";
import { type Disposable, DisposableStore } from "../shared/base/disposable.ts";
import { plain } from "../shared/events/words.ts";
import type { AttemptState } from "../shared/events/run-state.ts";
import type { Finding } from "../shared/model/finding.ts";
import type { FollowedRun } from "../shared/runner/run-feed.ts";
import type { RuleLinks } from "./rule-links.ts";
import type { Session } from "./session.ts";
import type { Vscode } from "./vscode-api.ts";

/**
 * Findings as Problems: those of the last attempt of the newest run that had contracts, and those of the last `qa`. A
 * new run clears what the one before said.
 */
export class Problems implements Disposable {
  readonly #vscode: Vscode;
  readonly #links: RuleLinks;
  readonly #store = new DisposableStore();
  readonly #collection: vscode.DiagnosticCollection;
  readonly #ofRuns = new Map<string, readonly Placed[]>();
  readonly #ofQa = new Map<string, readonly Placed[]>();
  #painted = "";

  constructor(vscode: Vscode, links: RuleLinks) {
    this.#vscode = vscode;
    this.#links = links;
    this.#collection = this.#store.add(vscode.languages.createDiagnosticCollection("orch"));
  }

  paint(session: Session): void {
    const run = session.feed.runs.find(({ state }) => state.contracts.length > 0);
    const placed =
      run === undefined
        ? []
        : run.state.contracts.flatMap((contract) =>
            this.#ofAttempt(session, run, contract.id, contract.attempts.at(-1)),
          );
    this.#ofRuns.set(session.base, placed);
    this.#show();
  }

  setQa(session: Session, findings: readonly Finding[]): void {
    this.#ofQa.set(
      session.base,
      findings.map((finding) => ({ session, finding, fallback: path.join(session.base, ".features.json") })),
    );
    this.#show();
  }

  clear(session: Session): void {
    this.#ofRuns.delete(session.base);
    this.#ofQa.delete(session.base);
    this.#show();
  }

  dispose(): void {
    this.#store.dispose();
  }

  #ofAttempt(
    session: Session,
    run: FollowedRun,
    contract: string,
    attempt: AttemptState | undefined,
  ): readonly Placed[] {
    if (attempt === undefined) return [];
    const fallback = path.join(run.dir, contract, `attempt-${attempt.attempt}`, "guard.json");
    return attempt.gates.flatMap(({ gate, findings }) =>
      findings.map((finding) => ({
        session,
        finding,
        fallback,
        from: { run: run.run, contract, attempt: attempt.attempt, gate },
      })),
    );
  }

  #show(): void {
    const all = [...this.#ofRuns.values(), ...this.#ofQa.values()].flat();
    const key = JSON.stringify(all.map(({ session, finding, from }) => [session.base, finding, from]));
    if (key === this.#painted) return;
    this.#painted = key;
    const byFile = new Map<string, vscode.Diagnostic[]>();
    for (const one of all) {
      const file = one.finding.path === undefined ? one.fallback : path.join(one.session.base, one.finding.path);
      byFile.set(file, [...(byFile.get(file) ?? []), this.#diagnostic(one, file)]);
    }
    this.#collection.clear();
    this.#collection.set([...byFile].map(([file, list]) => [this.#vscode.Uri.file(file), list]));
  }

  #diagnostic({ session, finding, from }: Placed, file: string): vscode.Diagnostic {
    const { Diagnostic, DiagnosticRelatedInformation, DiagnosticSeverity, Location, Position, Range, Uri, l10n } =
      this.#vscode;
    const line = Math.max(0, (finding.line ?? 1) - 1);
    const column = Math.max(0, (finding.column ?? 1) - 1);
    const end = finding.column === undefined ? 1000 : column + 1;
    const words = `${plain(finding.message)}${finding.remedy === "" ? "" : `\n${plain(finding.remedy)}`}`;
    const severity = finding.severity === "FAIL" ? DiagnosticSeverity.Error : DiagnosticSeverity.Warning;
    const diagnostic = new Diagnostic(new Range(new Position(line, column), new Position(line, end)), words, severity);
    diagnostic.source = "orch";
    const target = this.#links.find(session, finding.rule);
    diagnostic.code = target === undefined ? finding.rule : { value: finding.rule, target };
    const evidence = plain(finding.evidence);
    const related = [
      ...(evidence === "" ? [] : [evidence]),
      ...(from === undefined
        ? []
        : [l10n.t("gate {0}, attempt {1} of {2}, run {3}", from.gate, from.attempt, from.contract, from.run)]),
    ];
    const place = new Location(Uri.file(file), new Position(line, column));
    diagnostic.relatedInformation = related.map((text) => new DiagnosticRelatedInformation(place, text));
    return diagnostic;
  }
}

interface Placed {
  readonly session: Session;
  readonly finding: Finding;
  /** Where a finding about the change as a whole is shown. */
  readonly fallback: string;
  readonly from?: { readonly run: string; readonly contract: string; readonly attempt: number; readonly gate: string };
}
