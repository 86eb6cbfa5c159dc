import { typedPath } from "../../base/paths.ts";
import { shellWord } from "../../base/shell-word.ts";
import type { WorkerReport } from "../../model/attempt.ts";
import type { CommandResult } from "../../model/command-result.ts";
import { OrchError } from "../../model/error.ts";
import { unknownUsage } from "../../model/usage.ts";
import type { Worker } from "../../ports/worker.ts";
import { readFinal } from "../../prompts/final-word.ts";
import type { CommandArgs, Handler } from "../context.ts";
import { readLedger } from "../contract-rows.ts";
import { runContracts, type WaveContext, type WaveOrder } from "../contract-wave.ts";
import { createSlotsOf } from "../open-worktrees.ts";
import { preparedPlace } from "../prepared-places.ts";
import { loadContract, trustContracts } from "../contract-files.ts";
import { endWave } from "../wave-result.ts";
import { alone } from "./dispatch.ts";

/**
 * `guard <file>`: gate 1 on what a prepared worker left, with its final JSON when there is one. The same engine judges it
 * as any attempt; a pass is held for review, anything else stays in the worktree, to be mended there. The place of the
 * machine is given back with a pass, or with the worker's last words.
 */
export const guard: Handler<WaveContext> = async (context, args, signal) => {
  const loaded = await loadContract(context, args.words, "guard");
  const contract = alone(loaded.contract, undefined);
  const prepared = preparedPlace(await readLedger(context), contract.id, context.run);
  if (prepared === undefined)
    throw new OrchError("contract.not-prepared", `no place is prepared for ${contract.id}`, {
      data: { path: loaded.path },
    });
  // Of a worktree that is gone nothing can be judged: "no change" would be said of work that nobody looked at.
  if (!(await context.worktreesOf(prepared.worktree).holds(contract.id)))
    throw new OrchError("contract.not-prepared", `the worktree that was prepared for ${contract.id} is gone`, {
      data: { path: loaded.path },
    });
  const reply = await replyText(context, args, loaded.path);
  await trustContracts(context, [loaded], "the checks of this contract run its code", signal);
  const order: WaveOrder = {
    contracts: [contract],
    parallel: 1,
    once: true,
    place: prepared.worktree,
    leave: true,
    ladder: [handedIn(reply)],
  };
  await using parts = await context.openWave(order, signal);
  const wave = await runContracts(context, parts, order, signal);
  const passed = wave.passed.includes(contract.id);
  // Its last words, or a pass: the worker is done. A look in between leaves it its place.
  const over = passed || reply !== undefined;
  if (over) await createSlotsOf(context).release(prepared.place.slot);
  const end = await endWave(context, wave, () => loaded.path);
  return passed ? end : sentBack(end, prepared.place.folder, loaded.path, over);
};

/** Nothing was taken back: who goes on, goes on with it. */
function sentBack(end: CommandResult, folder: string, path: string, over: boolean): CommandResult {
  const { text = [], ...data } = end.data as { readonly text?: readonly string[] };
  const file = shellWord(path);
  const line = over
    ? `what was judged stays in ${folder}: orch prepare ${file} takes a place again, and goes on with it and the findings`
    : `what was judged stays in ${folder}: mend it there, then orch guard ${file}`;
  const command = over ? `orch prepare ${file}` : `orch guard ${file}`;
  const others = end.next.filter((one) => !one.startsWith("orch check "));
  return { ...end, next: [command, ...others], data: { ...data, text: [...text, line] } };
}

/** What a host read from standard input, whatever it is; else the words themselves, or what the file holds that they name. */
async function replyText(
  { files, cwd }: WaveContext,
  { reply, replyText: said }: CommandArgs,
  path: string,
): Promise<string | undefined> {
  const nothing = (where: string): OrchError =>
    new OrchError(
      "contract.no-reply",
      `${where} holds nothing: expected is the worker's final JSON, {"status": "done", "summary": "...", ...}`,
      { data: { path } },
    );
  if (said?.trim() === "") throw nothing("standard input");
  if (said !== undefined || reply === undefined || reply.includes("{")) return said ?? reply;
  if (reply.trim() === "") throw nothing("--reply");
  const text = await files.readText(typedPath(cwd, reply));
  if (text === undefined)
    throw new OrchError("usage.invalid", `there is no file ${reply}`, { data: { command: "guard" } });
  if (text.trim() === "") throw nothing(reply);
  return text;
}

/** A worker that was done before it was asked: what it left is in the worktree, what it says was handed in. */
function handedIn(reply: string | undefined): Worker {
  return {
    id: "prepared",
    can: { resume: false, supervise: false, write: true },
    run: () => Promise.resolve(reportOf(reply)),
  };
}

const kinds = { done: "done", blocked: "gave-up", failed: "failed" } as const;

function reportOf(reply: string | undefined): WorkerReport {
  const nothing = { refused: [], problems: [], usage: unknownUsage, durationMs: 0 };
  if (reply === undefined)
    return { ...nothing, kind: "done", summary: "nothing was reported", claims: [], concerns: [] };
  const said = readFinal(reply);
  const transcript = `${JSON.stringify({ role: "assistant", content: reply })}\n`;
  if (said === undefined) {
    const problem = { kind: "extraction", message: "the reply holds no final JSON", evidence: "" } as const;
    return {
      ...nothing,
      kind: "failed",
      summary: problem.message,
      claims: [],
      concerns: [],
      problems: [problem],
      transcript,
    };
  }
  const { status = "done", summary = "", filesChanged, concerns } = said;
  return { ...nothing, kind: kinds[status], summary, claims: [...filesChanged], concerns: [...concerns], transcript };
}
