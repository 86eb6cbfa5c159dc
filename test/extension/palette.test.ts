// A person who never opens a terminal: the installed .vsix, the palette, the demo's model, real git, gates and pytest.
import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import type { Browser, BrowserContext } from "playwright-core";
import { demoRequest } from "../../shared/app/demo/cassette.ts";
import { sampleFiles } from "../../shared/app/demo/sample.ts";
import { pythonWithPytest } from "../support/pytest.ts";
import { makeTempRepo, type TempRepo } from "../support/temp-repo.ts";
import { hasBrowser, launchBrowser } from "./harness/browser.ts";
import { type DemoModel, startDemoModel } from "./harness/demo-model.ts";
import { ROOT, startServer, type VscodeServer } from "./harness/server.ts";
import { vsix } from "./harness/vsix.ts";
import { Workbench } from "./harness/workbench.ts";

const artifacts = path.join(ROOT, "artifacts/extension/palette");

describe("the palette, from a sentence to main @slow", function () {
  this.timeout(600_000);
  this.bail(true); // each step starts from the one before
  let browser: Browser | undefined;
  let context: BrowserContext;
  let server: VscodeServer | undefined;
  let repo: TempRepo | undefined;
  let model: DemoModel | undefined;
  let workbench: Workbench;
  let root = "";

  before(async function () {
    const python = hasBrowser() ? await pythonWithPytest() : undefined;
    if (python === undefined) this.skip();
    fs.rmSync(artifacts, { recursive: true, force: true });
    model = await startDemoModel();
    repo = await makeTempRepo({ remote: true, files: sampleFiles });
    root = repo.root;
    const env = { ...repo.env, PATH: `${path.dirname(python)}:${process.env["PATH"] ?? ""}`, ORCH_DEMO_URL: model.url };
    const config = path.join(repo.env["XDG_CONFIG_HOME"] ?? "", "orch");
    fs.mkdirSync(config, { recursive: true });
    fs.writeFileSync(path.join(config, "model_chain.json"), JSON.stringify(["demo/invoice"]));
    server = await startServer({ vsix: [await vsix()], env });
    ({ browser, context } = await launchBrowser());
    workbench = await Workbench.open(context, server.url({ folder: root }), artifacts);
  });

  after(async () => {
    await browser?.close();
    await server?.stop();
    await model?.[Symbol.asyncDispose]();
    await repo?.cleanup();
  });

  afterEach(async function () {
    if (this.currentTest?.state === "failed")
      await workbench?.shot(`failed-${this.currentTest.title.replace(/\W+/g, "-").slice(0, 60)}`);
  });

  const git = async (...args: string[]): Promise<string> => (await repo?.git(...args)) ?? "";

  it("New Feature asks for a target and a sentence, and ends with a spec on a branch", async () => {
    await workbench.page.locator(".explorer-folders-view").waitFor();
    await workbench.runCommand("Orch: New Feature");
    await workbench.titled("New feature");
    await workbench.quickText.fill("Billing/con");
    await workbench.page.locator(".quick-input-message", { hasText: "reserved" }).waitFor();
    await workbench.answer("Billing/Invoice");
    await workbench.titled("New Feature: Billing/Invoice");
    await workbench.shot("new-prompt");
    await workbench.answer(demoRequest);
    const seen = await workbench.statusSays(/new.*passed/);
    assert.match(seen, /Orch: new .*passed/);
    assert.equal(await git("branch", "--show-current"), "Billing/Invoice");
    assert.match(fs.readFileSync(path.join(root, "features/Billing/Invoice/spec.md"), "utf8"), /^# Invoice/);
    await workbench.toast(/6 files on branch Billing\/Invoice/).waitFor();
    await workbench.shot("new-done");
  });

  it("Do asks for trust once, fails a gate, mends it, and commits and pushes", async () => {
    await workbench.watchStatus();
    await workbench.pressInToast(/6 files on branch/, "Do");
    await workbench.titled(/Trust this repository/);
    await workbench.shot("do-trust");
    await workbench.pick("Trust it");
    await workbench.statusSays(/do Billing\/Invoice passed · 1\/1/);
    const seen = await workbench.statusesSeen();
    const stages = [
      /do.* waiting/,
      /do Billing\/Invoice running · 0\/1 \(1/,
      /running · 0\/1 \(2/,
      /do Billing\/Invoice passed · 1\/1/,
    ];
    assert.deepEqual(
      stages.filter((stage) => !seen.some((text) => stage.test(text))),
      [],
      seen.join("\n"),
    );
    assert.equal(await git("log", "-1", "--format=%s"), "feat: Invoice");
    assert.equal(await git("rev-parse", "origin/Billing/Invoice"), await git("rev-parse", "HEAD"));
    assert.equal(await git("status", "--porcelain"), "");
    await workbench.runCommand("Orch: Show Runs");
    await workbench
      .tree(/do Billing\/Invoice/)
      .first()
      .click();
    await workbench.page.keyboard.press("ArrowRight");
    await workbench
      .tree(/attempt 2|Invoice.*accepted/)
      .first()
      .waitFor();
    await workbench.shot("do-passed-tree");
  });

  it("the change opens as one diff of its files", async () => {
    await workbench.runCommand("Orch: Show the Last Change");
    await workbench.tab(/Invoice, attempt 2/).waitFor();
    await workbench.diffEditors.first().waitFor();
    await workbench.page.getByText("Handler.py").first().waitFor();
    await workbench
      .newSide(/Invoice/)
      .first()
      .waitFor();
    await workbench.shot("do-diff");
  });

  it("and its texts are there again after a reload", async () => {
    await workbench.reload();
    await workbench.tab(/Invoice, attempt 2/).waitFor();
    await workbench
      .newSide(/Invoice/)
      .first()
      .waitFor();
    await workbench.shot("do-diff-reloaded");
  });

  it("the features view tells domain, state and branch", async () => {
    await workbench
      .tree(/Invoice.*registered, on branch Billing\/Invoice/)
      .first()
      .waitFor();
  });

  it("QA audits and tests without a model", async () => {
    await workbench.runCommand("Orch: QA: Audit and Test");
    await workbench.toast(/tests of 1 of 1 feature green/).waitFor({ timeout: 300_000 });
  });

  it("the Test Explorer runs the feature's tests, and shows what the gates said", async () => {
    await workbench.runCommand("Test: Run All Tests");
    await workbench.runCommand("Testing: Focus on Test Explorer View");
    const rows = workbench.page.locator(".test-explorer .monaco-list-row");
    const row = (label: RegExp) => rows.and(workbench.page.getByLabel(label));
    await row(/^Features.*Passed/)
      .first()
      .waitFor({ timeout: 300_000 });
    await workbench.page.keyboard.press("Home");
    await row(/^Features/)
      .first()
      .click();
    await workbench.page.keyboard.press("ArrowRight");
    await row(/^Billing\/Invoice.*Passed/)
      .first()
      .waitFor();
    await row(/^Gates/)
      .first()
      .waitFor();
    await workbench.shot("test-explorer");
  });

  it("Merge brings it to main and to the remote", async () => {
    await workbench.runCommand("Orch: Merge");
    await workbench.statusSays(/merge.*passed/, 300_000);
    assert.equal(await git("branch", "--show-current"), "main");
    assert.match(await git("log", "--format=%s", "-5", "origin/main"), /feat: Invoice/);
    await workbench.toast(/Merged Billing\/Invoice into main/).waitFor();
  });

  it("a feature that never passes ends failed, with its finding in Problems and the tree as it was", async () => {
    await workbench.runCommand("Notifications: Clear All Notifications");
    await workbench.runCommand("Orch: New Feature");
    await workbench.answer("Greeting/Broken");
    await workbench.titled("New Feature: Greeting/Broken");
    await workbench.answer("Says hello");
    await workbench.statusSays(/new.*passed/);
    await workbench.runCommand("Orch: Do");
    await workbench.statusSays(/do Greeting\/Broken failed/, 300_000);
    await workbench.runCommand("Problems: Focus on Problems View");
    const panel = workbench.page.locator(".markers-panel");
    await panel.locator(".monaco-list-row", { hasText: "bare" }).first().waitFor();
    await workbench.shot("do-failed-problems");
    assert.doesNotMatch(fs.readFileSync(path.join(root, "features/Greeting/Broken/Handler.py"), "utf8"), /except:/);
  });

  it("Modify takes the file that is looked at, and its diff can be discarded", async () => {
    await workbench.runCommand("Notifications: Clear All Notifications");
    const spec = path.join(root, "features/Greeting/Broken/spec.md");
    const before = fs.readFileSync(spec, "utf8");
    await workbench.runCommand("Orch: Show Runs");
    await workbench
      .tree(/^Broken/)
      .first()
      .click();
    await workbench.tab("spec.md").waitFor();
    const lines = workbench.page.locator(".editor-instance .view-lines").first();
    const offered = await workbench.menuOf(lines, "Modify Feature");
    assert.ok(offered.includes("Do"), offered.join());
    await workbench.shot("editor-menu");
    await workbench.pickInMenu("Modify Feature");
    await workbench.titled(/^Modify Feature/);
    await workbench.answer("Greets twice");
    await workbench.statusSays(/modify.*passed/);
    await workbench.toast(/spec\.md was amended/).waitFor();
    await workbench.tab(/spec\.md: amendment 1/).waitFor();
    assert.match(fs.readFileSync(spec, "utf8"), /CONTRACT AMENDMENT 1[^]*Greets twice/);
    await workbench.shot("modify-diff");
    await workbench.pressInToast(/spec\.md was amended/, "Discard it");
    const until = performance.now() + 60_000;
    while (fs.readFileSync(spec, "utf8") !== before && performance.now() < until)
      await workbench.page.waitForTimeout(50);
    assert.equal(fs.readFileSync(spec, "utf8"), before);
  });

  it("the explorer's menu offers Modify for a file of a slice, and Do for its spec alone", async () => {
    await workbench
      .tree(/^Broken/)
      .first()
      .click();
    await workbench.tab(/^spec\.md/).waitFor();
    await workbench.runCommand("File: Reveal Active File in Explorer View");
    const row = (name: string) => workbench.page.locator(".explorer-folders-view .monaco-list-row", { hasText: name });
    const ofHandler = await workbench.menuOf(row("Handler.py").first(), "Modify Feature");
    assert.equal(ofHandler.includes("Do"), false, ofHandler.join());
    await workbench.page.keyboard.press("Escape");
    const ofSpec = await workbench.menuOf(row("spec.md").first(), "Modify Feature");
    assert.ok(ofSpec.includes("Do"), ofSpec.join());
    await workbench.shot("explorer-menu");
    await workbench.pickInMenu("Modify Feature");
    await workbench.titled(/^Modify Feature/);
    await workbench.page.keyboard.press("Escape");
  });

  it("Undo confirms with numbers, and what it removes can be restored", async () => {
    await workbench.runCommand("Orch: Undo");
    await workbench.quickInput.locator(".quick-input-list .monaco-list-row", { hasText: "Keep everything" }).waitFor();
    await workbench.shot("undo-confirm");
    await workbench.pick(/^(?!Keep).*/);
    await workbench.statusSays(/undo.*passed/);
    assert.equal(await git("branch", "--show-current"), "main");
    assert.equal(fs.existsSync(path.join(root, "features/Greeting/Broken")), false);
  });

  it("Cancel ends a run in the middle, with its process", async () => {
    await workbench.runCommand("Orch: New Feature");
    await workbench.answer("Greeting/Slow");
    await workbench.titled("New Feature: Greeting/Slow");
    await workbench.answer("Says hello slowly");
    await workbench.statusSays(/new.*passed/);
    await workbench.runCommand("Orch: Do");
    await workbench.statusSays(/do Greeting\/Slow running · 0\/1 \(1/);
    await workbench.shot("do-running");
    const pid = runnerPid(root);
    await workbench.runCommand("Orch: Cancel a Run");
    await workbench.statusSays(/do Greeting\/Slow cancelled/);
    assert.equal(await gone(pid), true);
    assert.equal(model?.hanging(), 0);
    await workbench.shot("do-cancelled");
  });

  it("a reload takes a running run up again", async () => {
    await workbench.runCommand("Orch: Do");
    await workbench.statusSays(/do Greeting\/Slow running · 0\/1 \(1/);
    await workbench.reload();
    await workbench.statusSays(/do Greeting\/Slow running · 0\/1 \(1/);
    await workbench.runCommand("Orch: Cancel a Run");
    await workbench.statusSays(/do Greeting\/Slow cancelled/);
  });

  it("the chat answers @orch /status", async () => {
    // The first request of a window is sent before a model has been picked.
    await workbench.askChat("@orch /status", /unavailable|cancelled/);
    await workbench.askChat("@orch /status", /cancelled/);
    await workbench.shot("chat-status");
    await workbench.askChat("@orch /new", /Name the feature first/);
    await workbench.shot("chat-new");
  });

  it("a runner that is missing, or falls over at its start, is told with what it said", async () => {
    const entry = path.join(server?.scratch ?? "", "extensions/orch.orch-0.1.0/dist/runner/main.mjs");
    const whole = fs.readFileSync(entry);
    await workbench.clearToasts();
    fs.rmSync(entry);
    await workbench.runCommand("Orch: Merge");
    await workbench
      .toast(/The runner is not built/)
      .first()
      .waitFor();
    fs.writeFileSync(entry, "throw new Error('half a bundle');\n");
    await workbench.runCommand("Orch: Merge");
    await workbench
      .toast(/The runner did not start[^]*half a bundle/)
      .first()
      .waitFor();
    await workbench.shot("runner-broken");
    fs.writeFileSync(entry, whole);
    await workbench.clearToasts();
  });

  it("without a folder every command says what to do", async () => {
    const page = await Workbench.open(context, server?.url({}) ?? "", artifacts);
    try {
      await page.runCommand("Orch: Do");
      await page.toast(/No folder is open/).waitFor();
      await page.shot("no-folder");
      const shop = path.join(repo?.base ?? "", "shop");
      fs.mkdirSync(shop);
      await page.runCommand("Orch: Set Up a Project");
      await page.titled("The folder to set up");
      await page.shot("init-folder");
      await page.quickText.fill(`${shop}/`);
      await page.quickInput.locator(".quick-input-action", { hasText: /OK|Set up/ }).click();
      await page.toast(/shop/).first().waitFor();
      await page.shot("init-done");
      assert.ok(fs.existsSync(path.join(shop, "AGENTS.md")));
      await page.pressInToast(/shop/, "Open the project");
      await page.page.waitForURL(/folder=[^&]*shop/);
    } finally {
      await page.page.close();
    }
  });
});

function runnerPid(root: string): number {
  const runs = path.join(root, ".orch/runs");
  const newest =
    fs
      .readdirSync(runs)
      .filter((name) => name.startsWith("r-"))
      .toSorted()
      .at(-1) ?? "";
  return (JSON.parse(fs.readFileSync(path.join(runs, newest, "runner.json"), "utf8")) as { readonly pid: number }).pid;
}

async function gone(pid: number): Promise<boolean> {
  const until = performance.now() + 60_000;
  while (performance.now() < until) {
    try {
      process.kill(pid, 0);
    } catch {
      return true;
    }
    // Nobody may have waited for it yet.
    if (/\) Z /.test(fs.existsSync(`/proc/${pid}/stat`) ? fs.readFileSync(`/proc/${pid}/stat`, "utf8") : ") Z "))
      return true;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  return false;
}
