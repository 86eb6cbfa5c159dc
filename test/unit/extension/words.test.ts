// The second language: complete, nothing in it that English does not have, placeholders and links kept; and the views, whose
// words come from the projections that all hosts share, are in it.
import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { statusOf } from "../../../extension/status.ts";
import { splitJsonl } from "../../../shared/base/jsonl.ts";
import { tree, type TreeNode } from "../../../shared/events/project.ts";
import { foldRun } from "../../../shared/events/reduce.ts";
import { type Translate, wordsIn } from "../../../shared/events/words.ts";
import { parseEvent } from "../../../shared/model/event.ts";
import { nameFaults } from "../../../shared/model/names.ts";

function rootOf(from: string): string {
  return fs.existsSync(path.join(from, "package-lock.json")) ? from : rootOf(path.dirname(from));
}
const ROOT = rootOf(import.meta.dirname);

function words(file: string): Readonly<Record<string, string>> {
  return JSON.parse(fs.readFileSync(path.join(ROOT, file), "utf8")) as Record<string, string>;
}

const marks = (text: string): readonly string[] => (text.match(/\{\d\}|\(command:[^)]*\)|`[^`]*`/g) ?? []).toSorted();

describe("German", () => {
  for (const [english, german] of [
    ["extension/l10n/bundle.l10n.json", "extension/l10n/bundle.l10n.de.json"],
    ["package.nls.json", "package.nls.de.json"],
  ] as const) {
    it(`${german} fits ${english}`, () => {
      const from = words(english);
      const to = words(german);
      const faults = [
        ...Object.keys(to)
          .filter((key) => !(key in from))
          .map((key) => `${key} is not English`),
        ...Object.keys(from)
          .filter((key) => !(key in to))
          .map((key) => `${key} is missing`),
        ...Object.entries(to)
          .filter(([key, text]) => marks(text).join() !== marks(from[key] ?? "").join())
          .map(([key]) => `${key} has other placeholders`),
        ...Object.entries(to)
          .filter(([, text]) => text.includes("!") || text.trim() === "")
          .map(([key]) => `${key} is empty or shouts`),
      ];
      assert.deepEqual(faults, []);
    });
  }

  const german = words("extension/l10n/bundle.l10n.de.json");
  const t: Translate = (english, ...values) => {
    const text = german[english];
    assert.ok(text !== undefined, `no German for ${JSON.stringify(english)}`);
    return text.replaceAll(/\{(\d)\}/g, (_, at) => String(values[Number(at)]));
  };

  /** Every line of every run that a golden log tells, alive and not. */
  function lines(node: TreeNode): readonly string[] {
    return [`${node.label}: ${node.detail}`, ...node.children.flatMap(lines)];
  }
  const logs = fs.readdirSync(path.join(ROOT, "test/fixtures/logs"));
  const states = logs.map((name) => {
    const text = fs.readFileSync(path.join(ROOT, "test/fixtures/logs", name), "utf8");
    const events = splitJsonl(text).lines.map(parseEvent);
    const first = events.find(({ kind }) => kind === "event");
    return foldRun(first?.kind === "event" ? first.event.run : name, events);
  });

  it("the tree of every logged run has its words, and its values as they were written", () => {
    const said = states.flatMap((state) => [
      ...lines(tree(state, true, states, wordsIn(t))),
      ...lines(tree(state, false, states, wordsIn(t))),
    ]);
    for (const line of [
      "do Billing/Invoice: bestanden",
      "Implement Billing/Invoice: angenommen",
      "readiness: nichts gefunden",
      "Versuch 1: demo/sample: durchgefallen, 1 Fehler, 1 Warnung, neuer Versuch: 1 failure to mend",
      "acceptance: übersprungen: the judge is off: no key",
      "Versuch 2: demo/sample: bestanden, angenommen",
    ])
      assert.ok(said.includes(line), line);
  });

  it("durations, money and use have the decimal comma and the words", () => {
    const { durationText, money, usageText } = wordsIn(t);
    assert.deepEqual([500, 9_960, 61_000, 150_000, 7_500_000].map(durationText), [
      "0,5 s",
      "10,0 s",
      "61 s",
      "2 Min. 30 s",
      "2 Std. 5 Min.",
    ]);
    assert.deepEqual([0, 0.0042, 1.5, 1234.5].map(money), ["0,00 $", "0,00420 $", "1,50 $", "1234,50 $"]);
    const usage = { input: 3100, output: "unknown", cacheRead: 0, costUsd: "unknown" } as const;
    assert.equal(
      usageText({ usage, knownCostUsd: 0.0042, modelCalls: 1 }),
      "3100 Token hinein, Token heraus unbekannt, Kosten unbekannt, mindestens 0,00420 $",
    );
  });

  it("the status bar and its tooltip, too", () => {
    const state = states[logs.indexOf("do-second-attempt-passes.jsonl")];
    assert.ok(state);
    const alive = { ...state, result: undefined, phase: "running" } as never;
    const run = {
      run: state.run,
      dir: "",
      state: alive,
      alive: true,
      standing: "running",
      fresh: true,
      own: false,
    } as const;
    const { text, tooltip } = statusOf([run], [run], t as never);
    assert.match(text, /^\$\(sync~spin\) Orch: do Billing\/Invoice läuft · 1\/1 · >0,00420 \$$/);
    assert.match(tooltip, /läuft, 2,7 s\n[^]*\| Auftrag \| Stand \| Versuch \|[^]*\| angenommen \|/);
  });

  it("what an input box says of a name is among the texts", () => {
    for (const fault of Object.values(nameFaults)) assert.notEqual(t(fault), fault);
  });
});
