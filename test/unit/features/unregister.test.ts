import assert from "node:assert/strict";
import type { RepoPath } from "../../../shared/base/paths.ts";
import { registryFate, type RegistryFate, type RegistryTexts } from "../../../shared/features/unregister.ts";
import { isOrchError } from "../../../shared/model/error.ts";

const path = ".features.json" as RepoPath;
const invoice = { domain: "Billing", name: "Invoice" };
const file = (known: Record<string, string>, more: Record<string, unknown> = {}): string =>
  `${JSON.stringify({ features_dir: "features", known_features: known, ...more }, null, 2)}\n`;
const both = file({ User: "Accounts", Invoice: "Billing" });
const before = file({ User: "Accounts" });

describe("registry of a discarded feature", () => {
  const cases: readonly [string, RegistryTexts, RegistryFate][] = [
    ["nothing uncommitted", { working: undefined, head: both, goal: before }, { kind: "none" }],
    ["only the entry, not committed yet", { working: both, head: before, goal: before }, { kind: "reset" }],
    [
      "only the entry, in another layout",
      { working: JSON.stringify(JSON.parse(both)), head: before, goal: before },
      { kind: "reset" },
    ],
    [
      "only the entry, with other line ends",
      { working: both.replaceAll("\n", "\r\n"), head: before, goal: before },
      { kind: "reset" },
    ],
    [
      "a file that new made",
      { working: file({ Invoice: "Billing" }), head: undefined, goal: undefined },
      { kind: "remove" },
    ],
    [
      "an edit of the person's beside the entry",
      { working: file({ User: "Accounts", Invoice: "Billing" }, { mine: 1 }), head: before, goal: before },
      { kind: "edit", text: file({ User: "Accounts" }, { mine: 1 }) },
    ],
    [
      "an edit in a file that no commit has",
      { working: file({ Invoice: "Billing", Cart: "Shop" }), head: undefined, goal: undefined },
      { kind: "edit", text: file({ Cart: "Shop" }) },
    ],
    [
      "an edit of a feature that main has, too",
      { working: file({ User: "Accounts", Invoice: "Billing" }, { mine: 1 }), head: both, goal: both },
      { kind: "edit", text: file({ User: "Accounts", Invoice: "Billing" }, { mine: 1 }) },
    ],
    [
      "an edit that the way to main would overwrite",
      { working: file({ User: "Accounts", Invoice: "Billing" }, { mine: 1 }), head: both, goal: before },
      { kind: "blocked" },
    ],
  ];
  for (const [title, texts, expected] of cases) {
    it(title, () => assert.deepEqual(registryFate(texts, invoice, path), expected));
  }

  it("refuses a file it cannot read", () => {
    assert.throws(
      () => registryFate({ working: "<<<<<<< ours", head: before, goal: before }, invoice, path),
      (error) => isOrchError(error, "registry.invalid"),
    );
  });
});
