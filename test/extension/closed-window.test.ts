// A window that goes away while it serves its model to a run: the run notices, and goes on down the chain without it.
import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import type { Browser } from "playwright-core";
import { demoRequest } from "../../shared/app/demo/cassette.ts";
import { sampleFiles } from "../../shared/app/demo/sample.ts";
import { parseEvent, type RunEvent } from "../../shared/model/event.ts";
import { makeTempRepo, type TempRepo } from "../support/temp-repo.ts";
import { hasBrowser, launchBrowser } from "./harness/browser.ts";
import { type DemoModel, startDemoModel } from "./harness/demo-model.ts";
import { ROOT, startServer, type VscodeServer } from "./harness/server.ts";
import { vsix } from "./harness/vsix.ts";
import { Workbench } from "./harness/workbench.ts";

const artifacts = path.join(ROOT, "artifacts/extension/closed-window");

describe("a window that is closed in the middle of a reply @slow", function () {
  this.timeout(900_000);
  let browser: Browser | undefined;
  let server: VscodeServer | undefined;
  let model: DemoModel | undefined;
  let repo: TempRepo | undefined;

  after(async () => {
    await browser?.close();
    await server?.stop();
    await model?.[Symbol.asyncDispose]();
    await repo?.cleanup();
  });

  it("the run falls through to the next model and ends well", async function () {
    if (!hasBrowser()) this.skip();
    model = await startDemoModel();
    repo = await makeTempRepo({ files: sampleFiles });
    const config = path.join(repo.env["XDG_CONFIG_HOME"] ?? "", "orch");
    fs.mkdirSync(config, { recursive: true });
    fs.writeFileSync(
      path.join(config, "model_chain.json"),
      JSON.stringify(["vscode-lm/scripted/slow", "demo/invoice"]),
    );
    server = await startServer({
      vsix: [await vsix()],
      unpacked: [path.join(ROOT, "test/fixtures/scripted-model-extension")],
      env: { ...repo.env, ORCH_DEMO_URL: model.url },
    });
    const launched = await launchBrowser();
    browser = launched.browser;
    const workbench = await Workbench.open(launched.context, server.url({ folder: repo.root }), artifacts);
    await workbench.runCommand("Orch: New Feature");
    await workbench.answer("Billing/Invoice");
    await workbench.titled("New Feature: Billing/Invoice");
    await workbench.answer(demoRequest);
    const runs = path.join(repo.root, ".orch/runs");
    const dir = await until("the run's claim", () => {
      const run = fs.existsSync(runs) ? fs.readdirSync(runs).find((name) => name.startsWith("r-")) : undefined;
      const replies = run === undefined ? "" : path.join(runs, run, "replies");
      return fs.existsSync(replies) && fs.readdirSync(replies).some((name) => name.endsWith(".claim"))
        ? path.join(runs, run ?? "")
        : undefined;
    });
    await workbench.shot("serving");
    await workbench.page.close();
    await browser.close();
    const end = await until("the end", () => eventsOf(dir).find(({ type }) => type === "command.finished"));
    const fell = eventsOf(dir).find((event) => event.type === "model.fell-through");
    assert.ok(fell?.type === "model.fell-through");
    assert.deepEqual(
      [fell.model, fell.why, fell.next],
      ["vscode-lm/scripted/slow", "unavailable: the window of VS Code that served it is gone", "demo/invoice"],
    );
    assert.ok(end.type === "command.finished" && end.ok, end.type === "command.finished" ? end.summary : "");
  });
});

function eventsOf(dir: string): readonly RunEvent[] {
  const text = fs.readFileSync(path.join(dir, "events.jsonl"), "utf8");
  return text
    .split("\n")
    .filter((line) => line !== "")
    .map(parseEvent)
    .flatMap((parsed) => (parsed.kind === "event" ? [parsed.event] : []));
}

async function until<T>(what: string, look: () => T | undefined): Promise<T> {
  const deadline = performance.now() + 120_000;
  for (;;) {
    const value = look();
    if (value !== undefined) return value;
    if (performance.now() > deadline) throw new Error(`waited for ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}
