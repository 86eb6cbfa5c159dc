// Each test of test/extension/host counts here as one of its own: the host runs in `before`, and its results become
// tests of the suite that follows it. One host run for each kind of window.
import { execFileSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import Mocha from "mocha";
import { demoCassette } from "../../shared/app/demo/cassette.ts";
import { sampleFiles } from "../../shared/app/demo/sample.ts";
import { pythonWithPytest } from "../support/pytest.ts";
import { noSmallDisk } from "../support/small-disk.ts";
import { makeTempRepo, type TempRepo } from "../support/temp-repo.ts";
import { hasBrowser } from "./harness/browser.ts";
import { type DemoModel, startDemoModel } from "./harness/demo-model.ts";
import { type HostResult, type HostRun, runInHost } from "./harness/host-run.ts";
import { startKeyServer } from "./harness/key-server.ts";
import { ROOT } from "./harness/server.ts";

interface Window {
  readonly files: readonly string[];
  /** Prepares what the window opens. What it registers with `later` is undone at the end. */
  readonly open: (
    later: (undo: () => Promise<void>) => void,
  ) => Promise<Pick<HostRun, "folder" | "workspace" | "options" | "language"> | undefined>;
}

const scriptedModel = path.join(ROOT, "test/fixtures/scripted-model-extension");

function resultError(result: HostResult): Error {
  const error = new Error(result.message ?? "failed");
  if (result.stack !== undefined) error.stack = result.stack;
  return error;
}

async function repository(
  later: (undo: () => Promise<void>) => void,
  options: Parameters<typeof makeTempRepo>[0] = {},
): Promise<TempRepo> {
  const repo = await makeTempRepo(options);
  later(() => repo.cleanup());
  return repo;
}

async function demo(
  later: (undo: () => Promise<void>) => void,
  repo: TempRepo,
  python: string,
): Promise<Record<string, string>> {
  const model: DemoModel = await startDemoModel();
  later(async () => model[Symbol.asyncDispose]());
  configure(repo, "model_chain.json", ["demo/invoice"]);
  return { ...repo.env, PATH: `${path.dirname(python)}:${process.env["PATH"] ?? ""}`, ORCH_DEMO_URL: model.url };
}

/** A file of the person's own configuration. */
function configure(repo: TempRepo, name: string, value: unknown): void {
  const config = path.join(repo.env["XDG_CONFIG_HOME"] ?? "", "orch");
  fs.mkdirSync(config, { recursive: true });
  fs.writeFileSync(path.join(config, name), JSON.stringify(value));
}

const registry = (features: Readonly<Record<string, string>>): string =>
  JSON.stringify({ known_features: features }, null, 2);

/** The demo's sample with its model, ready for a first feature. */
async function demoProject(
  later: (undo: () => Promise<void>) => void,
): Promise<Pick<HostRun, "folder" | "options"> | undefined> {
  const python = await pythonWithPytest();
  if (python === undefined) return undefined;
  const repo = await repository(later, { files: sampleFiles });
  return { folder: repo.root, options: { env: await demo(later, repo, python) } };
}

const windows: Readonly<Record<string, Window>> = {
  "a repository": {
    files: ["editor-node", "activation", "following", "model-lane", "editor-help", "provider", "tasks", "next-buttons"],
    async open(later) {
      const handler =
        "import os\nimport re\n\n\ndef total(lines: list[int]) -> int:\n    return re.sub('', '', str(sum(lines)))\n";
      const files = {
        ".features.json": registry({ Invoice: "Billing" }),
        "features/Billing/Invoice/Handler.py": handler,
        "features/Billing/Invoice/spec.md": "# Invoice\n",
        "features/Billing/Invoice/Tests.py": "def test_a() -> None:\n    assert True\n",
      };
      const repo = await repository(later, { files });
      const lab = await startKeyServer("a-key-of-the-lab-0123456789");
      later(async () => lab[Symbol.asyncDispose]());
      configure(repo, "config.json", {
        models: { providers: { lab: { baseUrl: lab.baseUrl, keyEnv: "LAB_API_KEY" } } },
      });
      configure(repo, "model_chain.json", ["lab/any"]);
      return { folder: repo.root, options: { env: repo.env, unpacked: [scriptedModel] } };
    },
  },
  "the commands": {
    files: ["commands"],
    async open(later) {
      const python = await pythonWithPytest();
      if (python === undefined) return undefined;
      const repo = await repository(later, { remote: true, files: sampleFiles });
      return { folder: repo.root, options: { env: await demo(later, repo, python) } };
    },
  },
  "the chat": {
    files: ["chat"],
    open: demoProject,
  },
  "the Test Explorer and the buffers": {
    files: ["test-explorer", "modify-buffer"],
    open: demoProject,
  },
  "the editor's own models": {
    files: ["editor-models"],
    async open(later) {
      const python = await pythonWithPytest();
      if (python === undefined) return undefined;
      const repo = await repository(later, { files: sampleFiles });
      const cassette = path.join(repo.base, "cassette.json");
      fs.writeFileSync(cassette, JSON.stringify(demoCassette.steps.map(({ match, reply }) => ({ match, reply }))));
      const env = { ...(await demo(later, repo, python)), ORCH_TEST_CASSETTE: cassette };
      return { folder: repo.root, options: { env, unpacked: [scriptedModel] } };
    },
  },
  "a machine without git": {
    files: ["no-git"],
    async open(later) {
      const repo = await repository(later, { files: { ".features.json": registry({ Invoice: "Billing" }) } });
      const empty = path.join(repo.base, "no-programs");
      fs.mkdirSync(empty);
      return { folder: repo.root, options: { env: { ...repo.env, PATH: empty } } };
    },
  },
  "a repository on a read-only disk": {
    files: ["read-only"],
    async open(later) {
      if (noSmallDisk() !== undefined) return undefined;
      const files = {
        ".features.json": registry({ Invoice: "Billing" }),
        "features/Billing/Invoice/spec.md": "# Invoice\n",
      };
      const repo = await repository(later, { files });
      const mount = (...args: readonly string[]): void => void execFileSync("/bin/mount", args);
      mount("--bind", repo.root, repo.root);
      later(async () => void execFileSync("/bin/umount", ["-l", repo.root]));
      mount("-o", "remount,bind,ro", repo.root);
      return { folder: repo.root, options: { env: repo.env } };
    },
  },
  "a German window": {
    files: ["german"],
    async open(later) {
      const repo = await repository(later, { files: { ".features.json": registry({}) } });
      return { folder: repo.root, language: "de", options: { env: repo.env } };
    },
  },
  "Restricted Mode": {
    files: ["restricted"],
    async open(later) {
      const planted = {
        ".orch/config.json": `{ "features": { "max_attempts": 1 } }\n`,
        ".features.json": registry({ Invoice: "Billing" }),
        "features/Billing/Invoice/spec.md": "# Invoice\n",
      };
      const repo = await repository(later, { files: planted });
      return { folder: repo.root, options: { env: repo.env, trust: false } };
    },
  },
  "a repository that cannot hold run folders": {
    files: ["unwritable"],
    async open(later) {
      // Root may write anywhere, so a file stands where the folder would be.
      const repo = await repository(later, { files: { ".orch": "not a folder\n", ".features.json": registry({}) } });
      return { folder: repo.root, options: { env: repo.env } };
    },
  },
  "no folder": {
    files: ["no-folder"],
    open: async () => ({}),
  },
  "two folders, one of them no repository": {
    files: ["two-folders"],
    async open(later) {
      const repo = await repository(later, { files: { ".features.json": registry({ Invoice: "Billing" }) } });
      const plain = path.join(repo.base, "plain");
      fs.mkdirSync(plain);
      const workspace = path.join(repo.base, "both.code-workspace");
      fs.writeFileSync(workspace, JSON.stringify({ folders: [{ path: repo.root }, { path: plain }] }));
      return { workspace, options: { env: repo.env } };
    },
  },
  "three hundred features, settings of the wrong type, forty runs": {
    files: ["crowded"],
    async open(later) {
      const names = Array.from({ length: 300 }, (_, n) => [`Feature${n}`, `Domain${n % 12}`] as const);
      const specs = names.map(([name, domain]) => [`features/${domain}/${name}/spec.md`, `# ${name}\n`] as const);
      const repo = await repository(later, {
        files: { ".features.json": registry(Object.fromEntries(names)), ...Object.fromEntries(specs) },
      });
      const settings = {
        "orch.nodePath": 7,
        "orch.notifications": ["all"],
        "orch.languageModels.serve": "maybe",
        "orch.codeLens": null,
      };
      return { folder: repo.root, options: { env: repo.env, settings } };
    },
  },
};

describe("in the extension host", () => {
  for (const [title, { files, open }] of Object.entries(windows)) {
    describe(title, () => {
      const undo: (() => Promise<void>)[] = [];
      before(async function () {
        if (!hasBrowser()) this.skip();
        this.timeout(1_000_000);
        const opened = await open((one) => undo.push(one));
        if (opened === undefined) this.skip();
        const artifacts = path.join(ROOT, "artifacts/extension/host", title.replaceAll(/\W+/g, "-"));
        const results = await runInHost({ files, ...opened, timeoutMs: 900_000, artifacts });
        const suite = this.test?.parent;
        for (const result of results) {
          const body = (): void => {
            if (result.state === "failed") throw resultError(result);
          };
          suite?.addTest(new Mocha.Test(result.title, result.state === "skipped" ? undefined : body));
        }
      });
      after(async () => {
        for (const one of undo.toReversed()) await one();
      });

      it("ends by itself and leaves results", () => {});
    });
  }
});
