import { OrchError } from "../../model/error.ts";
import type { Handler } from "../context.ts";
import { routeOf, signalsOf } from "../routing.ts";

/** `route "<task>"`: signals and a suggestion. Nothing reads it after dispatch. */
export const route: Handler = (_context, args) => {
  const task = [...args.words, ...(args.prompt === undefined ? [] : [args.prompt])].join(" ").trim();
  if (task === "")
    throw new OrchError("usage.invalid", "route needs the task in words", { data: { command: "route" } });
  const found = routeOf(signalsOf(task));
  const { signals, suggestion, why, kind, workers } = found;
  const words = {
    yourself: "do it yourself",
    "analysis-first": "an analysis step first (mode read_only), then contracts from its answer",
    contracts: `${workers === 1 ? "one contract" : `contracts for at most ${workers} workers`} of kind ${kind}`,
  };
  const area = signals.area === undefined ? "" : ` (${signals.area})`;
  return Promise.resolve({
    ok: true,
    code: 0,
    summary: `${words[suggestion]}: ${why}`,
    next: suggestion === "yourself" ? [] : [`orch check --template ${kind} ID`],
    data: {
      ...found,
      text: [
        `  size: about ${signals.lines} lines in ${signals.files} ${signals.files === 1 ? "file" : "files"}`,
        `  kind: ${signals.kind}`,
        `  risk: ${signals.risk}${area}`,
        `  judgement: ${signals.judgement}`,
      ],
    },
  });
};
