// The installed .vsix in the real workbench: what a person sees of runs that somebody else started, in the light, the
// dark and a high-contrast theme. The pictures stay under artifacts/extension/pictures.
import assert from "node:assert/strict";
import path from "node:path";
import type { Browser } from "playwright-core";
import { makeTempRepo, type TempRepo } from "../support/temp-repo.ts";
import { offered as table } from "./harness/offered.ts";
import { hasBrowser, launchBrowser } from "./harness/browser.ts";
import { ROOT, startServer, type VscodeServer } from "./harness/server.ts";
import { vsix } from "./harness/vsix.ts";
import { Workbench } from "./harness/workbench.ts";
import { beginDo, endDo, type ScriptedRun, scriptedRun } from "./host/scripted-run.ts";

const artifacts = path.join(ROOT, "artifacts/extension/pictures");
const handler = `def total(lines):
    try:
        return sum(lines)
    except:
        return 0
`;
const patch = `diff --git a/features/Billing/Invoice/Handler.py b/features/Billing/Invoice/Handler.py
--- a/features/Billing/Invoice/Handler.py
+++ b/features/Billing/Invoice/Handler.py
@@ -1,5 +1,6 @@
 def total(lines):
     try:
-        return sum(lines)
+        net = sum(lines)
+        return round(net, 2)
     except:
         return 0
`;

async function failedRun(repo: TempRepo): Promise<ScriptedRun> {
  const scripted = await scriptedRun(repo.root);
  const { log } = scripted;
  beginDo(log);
  const sidecar = await log.sidecar("Invoice/attempt-1/diff.patch", patch);
  const of = { contract: "Invoice", attempt: 1 };
  log.append({ type: "model.asked", ...of, role: "implement", model: "vendor/model" });
  log.append({
    type: "usage.recorded",
    ...of,
    model: "vendor/model",
    usage: { input: 1200, output: 340, cacheRead: 0, costUsd: 0.04 },
  });
  log.append({
    type: "change.collected",
    ...of,
    files: [{ path: "features/Billing/Invoice/Handler.py", status: "modified" }],
    added: 2,
    removed: 1,
    patch: sidecar,
  });
  log.append({ type: "gate.finished", ...of, gate: "scope", status: "ran", ms: 2, findings: [] });
  log.append({ type: "gate.started", ...of, gate: "standards" });
  return scripted;
}

function judge({ log }: ScriptedRun): void {
  const of = { contract: "Invoice", attempt: 1 };
  const finding = {
    rule: "py.bare-except",
    severity: "FAIL" as const,
    message: "a bare except hides every error",
    path: "features/Billing/Invoice/Handler.py",
    line: 4,
    evidence: "except:",
    remedy: "Name the exception",
  };
  log.append({ type: "gate.finished", ...of, gate: "standards", status: "ran", ms: 3, findings: [finding] });
  log.append({ type: "verdict.reached", ...of, verdict: "fail", fails: 1, warns: 0 });
  log.append({
    type: "decision.made",
    ...of,
    decision: { kind: "needs-lead", reason: "exhausted", why: "3 attempts failed", hint: "Read the feedback" },
  });
  endDo(log, false);
}

describe("pictures of the workbench @slow", () => {
  let browser: Browser | undefined;
  let server: VscodeServer | undefined;
  let repo: TempRepo;
  let workbench: Workbench;

  before(async function () {
    if (!hasBrowser()) this.skip();
    this.timeout(900_000);
    repo = await makeTempRepo({
      files: {
        ".features.json": `{ "known_features": { "Invoice": "Billing" } }\n`,
        "features/Billing/Invoice/Handler.py": handler,
        "features/Billing/Invoice/spec.md": "# Invoice\n",
        ".orch/config.json": `{ "features": { "max_attempts": 5 } }\n`,
      },
    });
    server = await startServer({
      vsix: [await vsix()],
      env: repo.env,
      settings: { "workbench.colorTheme": "Default Dark Modern" },
    });
    const launched = await launchBrowser();
    browser = launched.browser;
    workbench = await Workbench.open(launched.context, server.url({ folder: repo.root }), artifacts);
  });

  after(async () => {
    await browser?.close();
    await server?.stop();
    await repo?.cleanup();
  });

  afterEach(async function () {
    if (this.currentTest?.state === "failed")
      await workbench?.shot(`failed-${this.currentTest.title.replace(/\W+/g, "-")}`);
  });

  it("the palette holds every command of the table", async () => {
    await workbench.statusSays(/Orch/);
    const labels = table.map(
      (command) => `Orch: ${command.title ?? command.name.charAt(0).toUpperCase() + command.name.slice(1)}`,
    );
    const offered = await workbench.offered(labels);
    await workbench.quickText.fill(">Orch");
    await workbench.shot("dark-palette");
    await workbench.page.keyboard.press("Escape");
    // Nothing runs, is parked or asks: these three wait until something does.
    assert.deepEqual(
      labels.filter((label) => !offered.includes(label)),
      ["Orch: Reply to a Decision", "Orch: Resume a Run", "Orch: Cancel a Run"],
    );
  });

  it("shows a run of another host: status bar, tree, problem, diff", async () => {
    await workbench.statusSays(/Orch/);
    const scripted = await failedRun(repo);
    await workbench.statusSays(/do Billing\/Invoice running · 0\/1 \(1, standards\) · \$0\.04/);
    await workbench.runCommand("Orch: Show Runs");
    await workbench
      .tree(/attempt 1/)
      .first()
      .waitFor();
    await workbench.shot("dark-status-running");
    judge(scripted);
    scripted.leave();
    await workbench.statusSays(/do Billing\/Invoice failed · 1\/1/);
    await workbench.runCommand("Problems: Focus on Problems View");
    const problem = workbench.page.locator(".markers-panel .monaco-list-row", {
      hasText: "a bare except hides every error",
    });
    await problem.first().waitFor();
    assert.match(await workbench.page.locator(".markers-panel").innerText(), /py\.bare-except/);
    await workbench.shot("dark-status-failed-problems");
    await workbench.runCommand("Orch: Show the Last Change");
    await workbench.diffEditors.first().waitFor();
    await workbench.page.getByText("round(net, 2)").first().waitFor();
    await workbench.shot("dark-diff");
  });

  it("what a repository would bring into effect is shown as a diff before it is trusted", async () => {
    const question = workbench.toast(/Trust repo\?/);
    await workbench.runCommand("Orch: Trust This Repository");
    await workbench.tab(/What would take effect/).waitFor();
    await workbench
      .newSide(/"max_attempts":\s5/)
      .first()
      .waitFor();
    await question.first().waitFor();
    await workbench.shot("dark-trust-new");
    await workbench.pressInToast(/Trust repo\?/, "Trust it");
    await workbench
      .toast(/trusted [0-9a-f]{8}/)
      .first()
      .waitFor();
    await repo.write(".orch/config.json", `{ "features": { "max_attempts": 9 } }\n`);
    await workbench.runCommand("Orch: Trust This Repository");
    await workbench
      .newSide(/"max_attempts":\s9/)
      .first()
      .waitFor();
    const before = workbench.page.locator(".monaco-diff-editor .editor.original .view-lines");
    await before
      .filter({ hasText: /"max_attempts":\s5/ })
      .first()
      .waitFor();
    await question.first().waitFor();
    const header = workbench.page.locator(".multiDiffEntry .file-path").first();
    assert.match(await header.innerText(), /config\.json/);
    assert.equal(await header.locator(".title.original").innerText(), "", "the same file, not a renamed one");
    await workbench.shot("dark-trust-changed");
    await workbench.pressInToast(/Trust repo\?/, "Not now");
    await workbench.runCommand("View: Close All Editors");
  });

  it("settings of the wrong type are told, with the way there", async () => {
    server?.set({ "orch.nodePath": 7, "orch.notifications": ["all"] });
    await workbench.reload();
    await workbench
      .toast(/wrong type: orch\.nodePath, orch\.notifications/)
      .first()
      .waitFor();
    await workbench.shot("dark-settings-wrong");
    server?.set({ "orch.nodePath": "", "orch.notifications": "all" });
    await workbench.clearToasts();
  });

  it("speaks German where the editor does", async () => {
    const german = await launchBrowser("de");
    try {
      const window = await Workbench.open(german.context, server?.url({ folder: repo.root }) ?? "", artifacts);
      await window.statusSays(/do Billing\/Invoice gescheitert/);
      await window.runCommand("Orch: Läufe zeigen");
      await window.openPalette("Orch");
      await window.quickInput.getByText("Orch: ").first().waitFor();
      await window.shot("german-palette");
      await window.page.keyboard.press("Escape");
      assert.deepEqual(await window.offered(["Orch: Neues Feature"]), ["Orch: Neues Feature"]);
    } finally {
      await german.browser.close();
    }
  });

  for (const [name, theme, mark] of [
    ["light", "Default Light Modern", ".monaco-workbench.vs"],
    ["high-contrast", "Default High Contrast", ".monaco-workbench.hc-black"],
    ["high-contrast-light", "Default High Contrast Light", ".monaco-workbench.hc-light"],
    ["dark", "Default Dark Modern", ".monaco-workbench.vs-dark"],
  ] as const) {
    it(`looks right in ${name}`, async () => {
      server?.set({ "workbench.colorTheme": theme });
      await workbench.reload();
      await workbench.page.locator(mark).waitFor();
      await workbench.statusSays(/do Billing\/Invoice failed/);
      await workbench
        .tree(/^Billing/)
        .first()
        .waitFor();
      await workbench.shot(`${name}-failed`);
      await workbench.runCommand("Orch: Open the Walkthrough");
      await workbench.page.locator(".getting-started-step", { hasText: "Run the demo" }).first().waitFor();
      await workbench.shot(`${name}-walkthrough`);
      await workbench.runCommand("View: Close Editor");
    });
  }
});
