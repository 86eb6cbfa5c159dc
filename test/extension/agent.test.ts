// What the plain palette does not ask, by hand in the installed .vsix: an agent does a feature, and a command gets its
// options. The agent is the real pi of this checkout against a scripted server.
import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import type { Browser } from "playwright-core";
import { agentSteps } from "../support/agent-steps.ts";
import { type FeatureRepo, makeFeatureRepo } from "../support/feature-repo.ts";
import { goodFiles, invoiceSpec } from "../support/invoice-replies.ts";
import { orchJson } from "../support/orch-cli.ts";
import { pythonWithPytest } from "../support/pytest.ts";
import { type ScriptedModelServer, startScriptedModelServer } from "../support/scripted-model-server/server.ts";
import { hasBrowser, launchBrowser } from "./harness/browser.ts";
import { ROOT, startServer, type VscodeServer } from "./harness/server.ts";
import { vsix } from "./harness/vsix.ts";
import { Workbench } from "./harness/workbench.ts";

const artifacts = path.join(ROOT, "artifacts/extension/agent");
const slice = "features/Billing/Invoice";

describe("an agent and options, from the palette @slow", function () {
  this.timeout(600_000);
  this.bail(true); // each step starts from the one before
  let browser: Browser | undefined;
  let server: VscodeServer | undefined;
  let model: ScriptedModelServer | undefined;
  let work: FeatureRepo | undefined;
  let workbench: Workbench;

  before(async function () {
    if (!hasBrowser() || (await pythonWithPytest()) === undefined) this.skip();
    const files = Object.fromEntries(Object.entries(goodFiles).map(([name, text]) => [`${slice}/${name}`, text]));
    model = await startScriptedModelServer({
      steps: [
        { match: { system: "You write spec.md" }, reply: { text: invoiceSpec } },
        ...agentSteps("Implement features/Billing/Invoice/spec\\.md", files),
      ],
    });
    const { baseUrl } = model;
    work = await makeFeatureRepo(baseUrl);
    const settings = path.join(work.repo.env["XDG_CONFIG_HOME"] ?? "", "orch/config.json");
    const workers = { cheap: { client: "pi", model: "direct/scripted" } };
    fs.writeFileSync(settings, JSON.stringify({ models: { providers: { direct: { baseUrl } } }, workers }));
    const made = await orchJson(work.place, "new", "Billing/Invoice", "Totals");
    assert.equal(made.code, 0, JSON.stringify(made));
    await work.trust();
    server = await startServer({ vsix: [await vsix()], env: work.place.env });
    const launched = await launchBrowser();
    browser = launched.browser;
    workbench = await Workbench.open(launched.context, server.url({ folder: work.repo.root }), artifacts);
  });

  after(async () => {
    await browser?.close();
    await server?.stop();
    await model?.[Symbol.asyncDispose]();
    await work?.[Symbol.asyncDispose]();
  });

  afterEach(async function () {
    if (this.currentTest?.state === "failed")
      await workbench?.shot(`failed-${this.currentTest.title.replace(/\W+/g, "-").slice(0, 60)}`);
  });

  interface Request {
    readonly command: string;
    readonly args: Readonly<Record<string, unknown>>;
  }

  async function newestRequest(): Promise<Request> {
    const runs = path.join(work?.repo.root ?? "", ".orch/runs");
    const names = fs.readdirSync(runs).filter((name) => fs.existsSync(path.join(runs, name, "request.json")));
    const newest = names.toSorted().at(-1) ?? "";
    return JSON.parse(fs.readFileSync(path.join(runs, newest, "request.json"), "utf8")) as Request;
  }

  it("options are picked from the table, values typed and validated", async () => {
    await workbench.runCommand("Orch: Run a Command with Options");
    await workbench.titled("Which command?");
    await workbench.quickText.fill("orch do");
    await workbench.pick(/^Do/);
    await workbench.titled("Do");
    await workbench.quickInput.getByText("Say what would happen and change nothing").first().waitFor();
    await workbench.shot("options");
    await workbench.pick("Say what would happen and change nothing");
    await workbench.pick("Attempts before a person decides");
    await workbench.quickInput.locator(".quick-input-action", { hasText: "OK" }).click();
    await workbench.quickInput.getByText("Attempts before a person decides").first().waitFor();
    await workbench.quickText.fill("none");
    await workbench.page.locator(".quick-input-message", { hasText: "A whole number above 0." }).waitFor();
    await workbench.quickText.fill("1.5");
    await workbench.page.locator(".quick-input-message", { hasText: "A whole number above 0." }).waitFor();
    await workbench.answer("2");
    await workbench.statusSays(/do.*passed/);
    const { command, args } = await newestRequest();
    assert.deepEqual([command, args["dryRun"], args["maxAttempts"]], ["do", true, 2]);
    assert.equal(await work?.repo.git("log", "-1", "--format=%s"), "first commit");
  });

  it("an option with words of its own asks for them: a new contract without a terminal", async () => {
    await workbench.clearToasts();
    await workbench.runCommand("Orch: Run a Command with Options");
    await workbench.titled("Which command?");
    await workbench.quickText.fill("orch check");
    await workbench.pick(/^Check Contracts/);
    await workbench.titled("Check Contracts");
    await workbench.pick("Write a new contract with every field");
    await workbench.quickInput.locator(".quick-input-action", { hasText: "OK" }).click();
    await workbench.quickInput.locator(".quick-input-message", { hasText: "Write a new contract" }).waitFor();
    await workbench.answer("refactor T9");
    const written = path.join(work?.repo.root ?? "", ".orch/contracts/T9.json");
    await workbench.page.locator(".part.panel", { hasText: "T9.json" }).first().waitFor();
    assert.match(fs.readFileSync(written, "utf8"), /"refactor"/);
    await workbench.shot("new-contract");
  });

  it("Do with an Agent offers the model itself first, then the workers that are here", async () => {
    await workbench.clearToasts();
    await workbench.runCommand("Orch: Do with an Agent");
    await workbench.titled(/^Do$/);
    const rows = workbench.quickInput.locator(".quick-input-list .monaco-list-row");
    await rows.filter({ hasText: "cheap" }).first().waitFor();
    assert.match(await rows.first().innerText(), /The model itself/);
    await workbench.shot("workers");
    await workbench.pick("cheap");
    await workbench.statusSays(/do Billing\/Invoice passed · 1\/1/);
    const { command, args } = await newestRequest();
    assert.deepEqual([command, args["worker"]], ["do", "cheap"]);
    assert.equal(await work?.repo.git("log", "-1", "--format=%s"), "feat: Invoice");
    await workbench.runCommand("Orch: Show Runs");
    await workbench
      .tree(/cheap: pass|do Billing\/Invoice/)
      .first()
      .waitFor();
    await workbench.shot("done");
  });

  it("and so does the menu of a feature, for that feature", async () => {
    const row = workbench.tree(/^Invoice.*registered/).first();
    await row.waitFor();
    const offered = await workbench.menuOf(row, "Do with an Agent");
    assert.ok(offered.includes("Do with an Agent"), offered.join());
    await workbench.shot("feature-menu");
    await workbench.pickInMenu("Do with an Agent");
    await workbench.titled(/^Do$/);
    await workbench.pick("The model itself");
    const end = performance.now() + 60_000;
    while ((await newestRequest()).args["worker"] !== undefined && performance.now() < end)
      await workbench.page.waitForTimeout(50);
    const { command, args } = await newestRequest();
    assert.deepEqual([command, args["words"], args["worker"]], ["do", ["Billing/Invoice"], undefined]);
  });
});
