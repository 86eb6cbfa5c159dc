import type * as vscode from "vscode";
import { ruleFix } from "./rule-fixes.ts";
import type { Vscode } from "./vscode-api.ts";

/** Quick fixes on Problems of ours: the mend where the rule has one, and the rule itself. */
export function registerQuickFixes(vscode: Vscode): vscode.Disposable {
  const { CodeAction, CodeActionKind, Range, Uri, WorkspaceEdit, l10n } = vscode;
  const provideCodeActions = (
    document: vscode.TextDocument,
    _range: vscode.Range,
    context: vscode.CodeActionContext,
  ): vscode.CodeAction[] =>
    context.diagnostics
      .filter(({ source }) => source === "orch")
      .flatMap((diagnostic) => {
        const rule = ruleOf(diagnostic);
        const message = diagnostic.message.split("\n")[0] ?? "";
        const fix = ruleFix(rule, document.getText(), diagnostic.range.start.line, message);
        const actions: vscode.CodeAction[] = [];
        if (fix !== undefined) {
          const action = new CodeAction(l10n.t("Fix {0}", rule), CodeActionKind.QuickFix);
          action.edit = new WorkspaceEdit();
          const end = fix.to >= document.lineCount ? document.lineAt(document.lineCount - 1).range.end : undefined;
          const range =
            end === undefined ? new Range(fix.from, 0, fix.to, 0) : new Range(fix.from, 0, end.line, end.character);
          const tail = end === undefined && fix.lines.length > 0 ? "\n" : "";
          action.edit.replace(document.uri, range, fix.lines.join("\n") + tail);
          action.diagnostics = [diagnostic];
          action.isPreferred = true;
          actions.push(action);
        }
        const code = diagnostic.code;
        if (typeof code === "object" && code !== null) {
          const action = new CodeAction(l10n.t("Show the rule {0}", rule), CodeActionKind.Empty);
          action.command = {
            command: "vscode.open",
            title: action.title,
            arguments: [Uri.parse(code.target.toString())],
          };
          actions.push(action);
        }
        return actions;
      });
  return vscode.languages.registerCodeActionsProvider(
    { scheme: "file" },
    { provideCodeActions },
    { providedCodeActionKinds: [CodeActionKind.QuickFix] },
  );
}

function ruleOf({ code }: vscode.Diagnostic): string {
  return String(typeof code === "object" && code !== null ? code.value : (code ?? ""));
}
