// The editor's own question before Orch may use the language models of another extension's account: refused, then given.
import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import type { Browser, Locator } from "playwright-core";
import { demoCassette, demoRequest } from "../../shared/app/demo/cassette.ts";
import { sampleFiles } from "../../shared/app/demo/sample.ts";
import { parseEvent, type RunEvent } from "../../shared/model/event.ts";
import { pythonWithPytest } from "../support/pytest.ts";
import { makeTempRepo, type TempRepo } from "../support/temp-repo.ts";
import { hasBrowser, launchBrowser } from "./harness/browser.ts";
import { type DemoModel, startDemoModel } from "./harness/demo-model.ts";
import { ROOT, startServer, type VscodeServer } from "./harness/server.ts";
import { vsix } from "./harness/vsix.ts";
import { Workbench } from "./harness/workbench.ts";

const artifacts = path.join(ROOT, "artifacts/extension/consent");
const guarded = "vscode-lm/guarded/cassette";

describe("consent to the editor's language models @slow", function () {
  this.timeout(600_000);
  this.bail(true); // what was refused is given afterwards
  let browser: Browser | undefined;
  let server: VscodeServer | undefined;
  let model: DemoModel | undefined;
  let repo: TempRepo | undefined;
  let workbench: Workbench;

  before(async function () {
    const python = hasBrowser() ? await pythonWithPytest() : undefined;
    if (python === undefined) this.skip();
    model = await startDemoModel();
    repo = await makeTempRepo({ files: sampleFiles });
    const config = path.join(repo.env["XDG_CONFIG_HOME"] ?? "", "orch");
    fs.mkdirSync(config, { recursive: true });
    fs.writeFileSync(path.join(config, "model_chain.json"), JSON.stringify([guarded, "demo/invoice"]));
    const cassette = path.join(repo.base, "cassette.json");
    // It writes the code alone: what it is refused for, the spec, is written by the next of the chain.
    const steps = demoCassette.steps.filter(({ role }) => role === "implement");
    fs.writeFileSync(cassette, JSON.stringify(steps.map(({ match, reply }) => ({ match, reply }))));
    server = await startServer({
      vsix: [await vsix()],
      unpacked: [path.join(ROOT, "test/fixtures/guarded-model-extension")],
      env: {
        ...repo.env,
        PATH: `${path.dirname(python)}:${process.env["PATH"] ?? ""}`,
        ORCH_DEMO_URL: model.url,
        ORCH_TEST_CASSETTE: cassette,
      },
    });
    const launched = await launchBrowser();
    browser = launched.browser;
    workbench = await Workbench.open(launched.context, server.url({ folder: repo.root }), artifacts);
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

  const question = (): Locator =>
    workbench.page.locator(".monaco-dialog-box", {
      hasText: "The extension 'Orch' wants to access the language models provided by Guarded models",
    });

  /** Models that answered or gave nothing, in the newest run. */
  function told(): readonly (readonly [model: string, why: string])[] {
    const runs = path.join(repo?.root ?? "", ".orch/runs");
    const [newest = ""] = fs
      .readdirSync(runs)
      .filter((name) => name.startsWith("r-"))
      .toSorted()
      .toReversed();
    const events: readonly RunEvent[] = fs
      .readFileSync(path.join(runs, newest, "events.jsonl"), "utf8")
      .split("\n")
      .filter((line) => line !== "")
      .map(parseEvent)
      .flatMap((parsed) => (parsed.kind === "event" ? [parsed.event] : []));
    return events.flatMap((event) => {
      if (event.type === "model.asked") return [[event.model, "asked"] as const];
      return event.type === "model.fell-through" ? [[event.model, event.why] as const] : [];
    });
  }

  it("the editor asks before the first request; refused, the chain goes on and says so, with a way to allow it", async () => {
    await workbench.runCommand("Orch: New Feature");
    await workbench.answer("Billing/Invoice");
    await workbench.titled("New Feature: Billing/Invoice");
    await workbench.answer(demoRequest);
    await question().waitFor();
    assert.match(await question().innerText(), /Orch asks for run r-[-\w]+, which you started/);
    await workbench.shot("asked");
    await question().locator(".monaco-button", { hasText: "Cancel" }).click();
    await workbench.statusSays(/new.*passed/);
    const [[first, asked] = [], [again, why] = [], ...rest] = told();
    assert.deepEqual([first, asked, again], [guarded, "asked", guarded]);
    assert.match(why ?? "", /^credential refused: not allowed by the person/);
    // The next request of the run finds the answer remembered: the dialog would stand in its way.
    const later = rest.filter(([id, how]) => id === guarded && how !== "asked").map(([, how]) => how);
    assert.deepEqual(later, ["credential refused: not allowed by the person: they said so in this run"]);
    assert.equal(await question().count(), 0);
    assert.ok(rest.some(([id, how]) => id === "demo/invoice" && how === "asked"));
    await workbench.toast(/may not use the editor's language models/).waitFor();
    await workbench.shot("refused");
  });

  it("asked again by the next run and allowed, the model does the work, and is not asked about any more", async () => {
    await workbench.clearToasts();
    await workbench.runCommand("Orch: Do");
    await workbench.titled(/Trust this repository/);
    await workbench.pick("Trust it");
    await question().waitFor();
    await question().locator(".monaco-button", { hasText: "Allow" }).click();
    await workbench.statusSays(/do Billing\/Invoice passed · 1\/1/);
    assert.deepEqual(told(), [
      [guarded, "asked"],
      [guarded, "asked"],
    ]);
    assert.equal(await question().count(), 0);
    await workbench.shot("allowed");
  });
});
