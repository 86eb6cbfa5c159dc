// The events of shared/model/event.ts as a page. A type without a sentence here fails: nobody should meet it unexplained.
const SAYS = {
  "run.started": "A runner took the request up.",
  "target.named": "The feature that the run is about: named, or taken from the branch it began on.",
  "run.finished": "The run has ended; its result follows.",
  "run.parked": "The run waits for a person. Locks and slots are free; `hint` is the next keystroke.",
  "run.resumed": "Another runner goes on with it.",
  "run.cancelled": "Somebody ended it.",
  "wave.started": "These contracts begin.",
  "wave.finished": "They have ended.",
  "contract.queued": "A contract waits for its turn; `hash` says which text of it.",
  "contract.skipped": "A contract that needed another one's success does not run.",
  "contract.finished": "A contract came to its end.",
  "attempt.started": "A worker begins an attempt on top of `base`.",
  "attempt.finished": "The attempt is over; `durationMs` comes from the monotonic clock.",
  "worker.reported": "What the worker says it did. It is shown, not believed.",
  "model.asked": "A prompt went to a model; the sidecar holds it, secrets taken out.",
  "model.answered": "A usable reply came.",
  "model.fell-through": "A model gave nothing usable, and why; the next one is tried.",
  "model.chosen": "The order in which models are tried, and why.",
  "change.collected": "What differs from the base, read by git.",
  "gate.started": "A gate begins to look.",
  "gate.finished": "What it found. `broken` and `skipped` are no pass: policy decides what they mean.",
  "verdict.reached": "The sum of the gates of an attempt.",
  "decision.made": "What policy makes of the verdicts so far.",
  "question.asked": "A convenience is asked: after `timeoutMs` the stated default holds.",
  "question.answered": "The first answer stands.",
  "decision.asked": "A person must decide. It has no timeout.",
  "decision.answered": "The decision, and who made it.",
  "notice.shown": "Something a person should know.",
  "diff.shown": "Two texts to compare, as sidecars.",
  "location.opened": "A place a person should look at.",
  "review.opened": "An accepted change waits for review.",
  "review.closed": "The review's outcome, for exactly this diff.",
  "contract.merged": "An accepted change lies in the working tree, unstaged, its checks green there.",
  "contract.prepared": "A place for a worker that Orch does not start, with its prompt; it holds a slot until then.",
  "final.checked": "Project-wide checks over the merged tree, one by one.",
  "wave.estimated": "What a wave is expected to use, before anything is dispatched.",
  "control.accepted": "A dropped control file was obeyed.",
  "control.refused": "A dropped control file was not obeyed, and why.",
  "process.started": "A program runs. Pid, start time and marker are what a later sweep ends it by.",
  "process.ended": "It ended by itself or was ended.",
  "process.swept": "Programs that outlived their attempt or their runner were ended.",
  "completion.requested": "A window of VS Code is asked to serve a completion.",
  "usage.recorded": "Tokens and cost, as far as the lane tells; unknown is never 0.",
  "budget.reached": "A limit ends the work before the next call.",
  "trash.stored": "What is about to be removed is kept for `orch restore`.",
  "commit.made": "A commit on a branch, pushed or not.",
  "progress.noted": "What is being done, for people.",
  "command.finished": "The result, as every host shows it and `--json` prints it.",
};

export function eventsPage(bodies, version, z) {
  const missing = Object.keys(bodies).filter((type) => !(type in SAYS));
  if (missing.length > 0) throw new Error(`.ci/docs/events.mjs says nothing of ${missing.join(", ")}`);
  return [
    "<!-- Generated from shared/model/event.ts: npm run gen -->",
    "",
    "# Events",
    "",
    "`.orch/runs/<run>/events.jsonl` holds one JSON object a line: what happened, in past tense, written by the run's one",
    "runner and by nobody else. Every host (terminal, VS Code, Neovim, dashboard) folds the same lines, so all of them show the",
    "same run, also one that ended last week. Events never drive control flow: what a person says is a file dropped into",
    "`control/` or `replies/`, and the runner answers with an event.",
    "",
    "## Envelope",
    "",
    ...table(
      ["Field", "Means"],
      [
        ["`v`", `${version}. A line of another version is refused, not guessed`],
        ["`run`", "id of the run"],
        ["`seq`", "from 1, without gaps; a gap means that the file must be read again"],
        ["`at`", "milliseconds since 1970; the clock may jump, so durations have fields of their own"],
        ["`type`", "one of the types below. A type that is not known here is of a newer Orch: kept and shown"],
      ],
    ),
    "",
    "Large or sensitive payloads (prompts, transcripts, patches, logs) are files beside the log; an event carries a sidecar",
    "`{path, bytes, sha256}`. Secrets are taken out before a line is written, never when it is shown. Follow a run with",
    "`orch do --json=events`, or read the file.",
    "",
    "## Types",
    "",
    "A `?` marks a field that may be absent.",
    "",
    ...table(
      ["Type", "Says", "Fields"],
      Object.entries(bodies).map(([type, body]) => [
        `\`${type}\``,
        SAYS[type],
        fieldsOf(z.toJSONSchema(body, { unrepresentable: "any" })),
      ]),
    ),
    "",
  ].join("\n");
}

function fieldsOf(schema) {
  const needed = new Set(schema.required ?? []);
  return Object.entries(schema.properties ?? {})
    .map(([name, inner]) => `\`${name}${needed.has(name) ? "" : "?"}\` ${typeOf(inner)}`)
    .join("; ");
}

function typeOf(schema) {
  if (schema.enum) return schema.enum.join(", ");
  if (schema.const !== undefined) return String(schema.const);
  if (schema.anyOf) return [...new Set(schema.anyOf.map(typeOf))].join(" or ");
  if (schema.type === "array") return `list of ${typeOf(schema.items ?? {})}`;
  if (schema.type === "object") {
    const names = Object.keys(schema.properties ?? {});
    return names.length > 0 ? `{${names.join(", ")}}` : "object";
  }
  if (schema.oneOf) return [...new Set(schema.oneOf.map(typeOf))].join(" or ");
  return schema.type ?? "anything";
}

function table(head, rows) {
  const cell = (text) => String(text).replaceAll("|", "\\|");
  return [
    `| ${head.join(" | ")} |`,
    `|${head.map(() => "---").join("|")}|`,
    ...rows.map((row) => `| ${row.map(cell).join(" | ")} |`),
  ];
}
