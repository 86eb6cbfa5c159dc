// Logs in, text out: what every host shows of a run, at its end and with a runner alive. RESET_GOLDEN=1 rewrites.
import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { splitJsonl } from "../../shared/base/jsonl.ts";
import { ledgerRow, summary } from "../../shared/events/ledger.ts";
import { notices } from "../../shared/events/notices.ts";
import { statusLine, tree, type TreeNode } from "../../shared/events/project.ts";
import { foldRun, reduceRun } from "../../shared/events/reduce.ts";
import { emptyRun, type RunState } from "../../shared/events/run-state.ts";
import { standingOf } from "../../shared/events/standing.ts";
import { timeline } from "../../shared/events/timeline.ts";
import { parseEvent, type ParsedEvent } from "../../shared/model/event.ts";
import { fixture, sourceRoot } from "../support/source-root.ts";

const goldenDir = path.join(sourceRoot, "test", "golden");

function outline(node: TreeNode, depth = 0): string[] {
  const line = `${"  ".repeat(depth)}[${node.tone}] ${node.kind} ${node.label} (${node.detail})`;
  return [line, ...node.children.flatMap((child) => outline(child, depth + 1))];
}

function aloud(run: string, events: readonly ParsedEvent[]): string[] {
  let state = emptyRun(run);
  return events.flatMap((event) => {
    const next = reduceRun(state, event);
    const said = notices(state, next).map(({ severity, text, hint }) => `${severity}: ${text}${hint === undefined ? "" : ` -> ${hint}`}`);
    state = next;
    return said;
  });
}

function eventsOf(name: string): readonly ParsedEvent[] {
  return splitJsonl(fs.readFileSync(fixture("logs", name), "utf8")).lines.map(parseEvent);
}

/** Newest first, as the store lists them: a review and a merge say something about the work of another run. */
function everyRun(): readonly RunState[] {
  const states = fs.readdirSync(fixture("logs")).map((name) => {
    const events = eventsOf(name);
    const first = events[0];
    return foldRun(first?.kind === "event" ? first.event.run : "", events);
  });
  return states.toSorted((a, b) => (a.run < b.run ? 1 : -1));
}

function shown(name: string): string {
  const events = eventsOf(name);
  const first = events[0];
  const run = first?.kind === "event" ? first.event.run : "";
  const state = foldRun(run, events);
  const block = (title: string, lines: readonly string[]): string[] => [`== ${title}`, ...lines, ""];
  return [
    ...block("standing", [`with a runner: ${standingOf(state, true)}`, `without: ${standingOf(state, false)}`]),
    ...block("status line", [`with a runner: ${statusLine(state, true)}`, `without: ${statusLine(state, false)}`]),
    ...block("summary, without a runner", summary(state, false)),
    ...block("tree, with a runner", outline(tree(state, true, everyRun()))),
    ...block("timeline", timeline(events)),
    ...block("said aloud", aloud(run, events)),
    ...block("ledger", [JSON.stringify(ledgerRow(state, false), null, 2)]),
  ].join("\n");
}

describe("projections", () => {
  const logs = fs.readdirSync(fixture("logs")).filter((name) => name.endsWith(".jsonl"));

  for (const name of logs) {
    it(name, () => {
      const golden = path.join(goldenDir, name.replace(/\.jsonl$/, ".txt"));
      const text = shown(name);
      if (process.env["RESET_GOLDEN"] === "1") fs.writeFileSync(golden, text);
      assert.equal(text, fs.readFileSync(golden, "utf8"));
    });
  }

  it("no golden file outlives its log", () => {
    const texts = fs.readdirSync(goldenDir).filter((name) => name.endsWith(".txt"));
    assert.deepEqual(texts, logs.map((name) => name.replace(/\.jsonl$/, ".txt")).toSorted());
  });

  it("nothing shown holds a control character", () => {
    for (const name of logs) assert.doesNotMatch(shown(name), /[\u0000-\u0009\u000B-\u001F\u007F]/);
  });
});
