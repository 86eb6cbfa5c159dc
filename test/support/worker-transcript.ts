import fs from "node:fs";
import path from "node:path";
import { recipeOf } from "../../shared/adapters/recipes/recipes.ts";
import type { Recipe, StreamEnd, StreamLook } from "../../shared/adapters/recipes/recipe.ts";
import { judgeWorker } from "../../shared/adapters/worker-verdict.ts";
import { unusableReply } from "../../shared/engine/unusable-reply.ts";
import type { Exit } from "../../shared/ports/process.ts";
import { readFinal } from "../../shared/prompts/final-word.ts";
import { sourceRoot } from "./source-root.ts";

/** What real clients wrote, recorded against a scripted server: `<client>/<case>.jsonl`, and how they ended beside it. */
export const transcripts = path.join(sourceRoot, "test", "fixtures", "workers");

interface Ending {
  readonly exitCode: number | null;
  readonly signal: string | null;
  readonly stderr: readonly string[] | null;
}

/** `pi-0.73` is read by the recipe of pi. */
function recipeFor(client: string): Recipe {
  const recipe = recipeOf(client.replace(/-\d.*$/, ""));
  if (recipe === undefined) throw new TypeError(`there is no recipe for ${client}`);
  return recipe;
}

export interface ReadTranscript {
  readonly end: StreamEnd;
  readonly look: StreamLook;
  readonly exit: Exit;
  readonly stderr: string;
}

export function readTranscript(client: string, name: string, extra?: string): ReadTranscript {
  const at = path.join(transcripts, client, name);
  const ending = JSON.parse(fs.readFileSync(`${at}.json`, "utf8")) as Ending;
  const parser = recipeFor(client).parser();
  for (const line of fs.readFileSync(`${at}.jsonl`, "utf8").split("\n")) parser.line(line);
  if (extra !== undefined) parser.file?.(fs.readFileSync(path.join(transcripts, client, extra), "utf8"));
  const stderr = (ending.stderr ?? []).join("\n");
  const exit: Exit =
    ending.signal === null
      ? { kind: "exited", code: ending.exitCode ?? 0 }
      : { kind: "signalled", signal: ending.signal };
  return { end: parser.end(stderr), look: parser.look(), exit, stderr };
}

/** One line: how it is judged, calls and tools, usage, what was denied, the words. */
export function gistOf(client: string, name: string): string {
  const { end, look, exit, stderr } = readTranscript(client, name);
  const judged = judgeWorker({
    id: client,
    root: "/tree",
    end,
    exit,
    itsOwnDoing: false,
    stderr,
    final: readFinal(end.text),
    unusable: unusableReply(end.text),
    // Whether a final JSON is there is not what the recordings are about.
    tellsTokenLimit: true,
    limits: { wallMs: 60_000, silenceMs: 60_000, maxCalls: 50 },
  });
  const { input, output, cacheRead, costUsd } = end.usage;
  const money = costUsd === "unknown" ? "?" : costUsd.toFixed(6);
  const tokens = input === "unknown" ? "?" : `${input}+${cacheRead}>${output}`;
  const why = judged.cause === undefined ? judged.kind : `${judged.kind} ${judged.cause}`;
  const denied = end.denied.length === 0 ? "" : ` denied ${end.denied.join(",")}`;
  return `${why} | ${end.calls} calls ${look.tools} tools ${tokens} $${money}${denied} | ${judged.summary.slice(0, 90)}`;
}
