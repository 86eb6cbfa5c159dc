import assert from "node:assert/strict";
import { nextActions } from "../../../extension/next-actions.ts";

interface Pressed {
  readonly labels: readonly string[];
  /** What each button does, as the editor's command and its arguments. */
  readonly calls: readonly (readonly unknown[])[];
}

/** Presses every button of these lines. `picked` is the file that a dialog answers with. */
async function press(next: readonly string[], picked?: string): Promise<Pressed> {
  const calls: unknown[][] = [];
  const uri = (path: string): object => ({ fsPath: path, toString: () => path });
  const vscode = {
    l10n: { t: (words: string, ...values: unknown[]) => words.replace("{0}", String(values[0])) },
    Uri: { joinPath: (root: { readonly fsPath: string }, path: string) => uri(`${root.fsPath}/${path}`) },
    window: { showOpenDialog: () => Promise.resolve(picked === undefined ? undefined : [uri(picked)]) },
    commands: {
      executeCommand: (...args: unknown[]) => {
        calls.push(args.map((arg) => (typeof arg === "object" && arg !== null && "fsPath" in arg ? arg.fsPath : arg)));
        return Promise.resolve();
      },
    },
  };
  const deps = { vscode: vscode as never, root: uri("/repo") as never, titleOf: (name: string) => `[${name}]` };
  const actions = nextActions(deps, next);
  for (const action of actions) await action.run();
  return { labels: actions.map(({ label }) => label), calls };
}

const call = (name: string, words: readonly string[], more: object = {}): readonly unknown[] => [
  `orch.${name}`,
  { words, overrides: {}, flags: [], ...more },
];

describe("buttons for what comes next", () => {
  const review = ["orch review T1 --accept", "orch review T1 --revise FILE", "orch review T1 --take-over"];

  it("a review ends in three ways, each with its option; the file of items is picked", async () => {
    assert.deepEqual(await press(review, "/repo/items.md"), {
      labels: ["Accept", "Revise...", "Take over"],
      calls: [
        call("review", ["T1"], { overrides: { accept: true }, flags: ["--accept"] }),
        call("review", ["T1"], { overrides: { revise: "/repo/items.md" }, flags: ["--revise=FILE"] }),
        call("review", ["T1"], { overrides: { takeOver: true }, flags: ["--take-over"] }),
      ],
    });
  });

  it("nothing is sent back where no file was picked", async () => {
    assert.deepEqual((await press(review)).calls.length, 2);
  });

  it("edit opens that file of the repository", async () => {
    assert.deepEqual(await press(["edit features/Billing/Invoice/spec.md", "orch do"]), {
      labels: ["Edit spec.md", "[do]"],
      calls: [["vscode.open", "/repo/features/Billing/Invoice/spec.md", { preview: false }], call("do", [])],
    });
  });

  const table: readonly (readonly [line: string, labels: readonly string[], calls: readonly (readonly unknown[])[]])[] =
    [
      ["orch merge Billing/Invoice", ["[merge]"], [call("merge", ["Billing/Invoice"])]],
      [
        "orch dispatch .orch/contracts/T1.json --feedback .orch/runs/T1/feedback.md",
        ["[dispatch]"],
        [
          call("dispatch", [".orch/contracts/T1.json"], {
            overrides: { feedback: ".orch/runs/T1/feedback.md" },
            flags: ["--feedback=.orch/runs/T1/feedback.md"],
          }),
        ],
      ],
      ['orch new domain/Feature "what it does"', ["[new]"], [call("new", [])]],
      ['orch new Billing/Invoice "what it does"', ["[new]"], [call("new", ["Billing/Invoice"])]],
      [
        'orch new Billing/Invoice "totals, with tax"',
        ["[new]"],
        [call("new", ["Billing/Invoice"], { prompt: "totals, with tax" })],
      ],
      ['orch modify Billing/Invoice "what changes"', ["[modify]"], [call("modify", ["Billing/Invoice"])]],
      [
        "orch modify Billing/Invoice drop the ID column ...",
        ["[modify]"],
        [call("modify", ["Billing/Invoice"], { prompt: "drop the ID column ..." })],
      ],
      [
        "orch modify Billing/Invoice 'what about refunds'",
        ["[modify]"],
        [call("modify", ["Billing/Invoice"], { prompt: "what about refunds" })],
      ],
      [
        `orch modify Billing/Invoice '<b> isn'\\''t escaped, nor is \\n or "x"' --allow-open`,
        ["[modify]"],
        [
          call("modify", ["Billing/Invoice"], {
            prompt: `<b> isn't escaped, nor is \\n or "x"`,
            overrides: { allowOpen: true },
            flags: ["--allow-open"],
          }),
        ],
      ],
      [
        'orch do Billing/Invoice "..." --no-push',
        ["[do]"],
        [call("do", ["Billing/Invoice"], { overrides: { push: false }, flags: ["--no-push"] })],
      ],
      ['orch run --title "..." T1 T2', ["[run]"], [call("run", ["T1", "T2"])]],
      ["orch guard T1 --reply -", ["[guard]"], [call("guard", ["T1"])]],
      ["orch doctor --fix", ["[doctor]"], [call("doctor", [], { overrides: { fix: true }, flags: ["--fix"] })]],
      ["orch model <id>", ["[model]"], [call("model", [])]],
      ["orch check --template edit ID", [], []],
      ["orch merge --no-such-option", [], []],
      ["orch nothing-like-it", [], []],
      ["git diff", [], []],
      ["cd shop", [], []],
    ];
  for (const [line, labels, calls] of table)
    it(line, async () => assert.deepEqual(await press([line]), { labels, calls }));

  it("one button a label, three at most", async () => {
    const lines = ["orch do", "orch do Billing/Invoice", "orch scan", "orch runs", "orch report"];
    assert.deepEqual((await press(lines)).labels, ["[do]", "[scan]", "[runs]"]);
  });
});
