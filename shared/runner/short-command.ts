import { OrchError } from "../model/error.ts";
import { runShort, type Starter } from "./client.ts";

/** The one document that `--json` prints; `data` is the command's own. */
export interface CommandDocument {
  readonly command: string;
  readonly ok: boolean;
  readonly code: number;
  readonly summary: string;
  readonly next: readonly string[];
  readonly data: unknown;
  readonly error?: { readonly code: string; readonly message: string; readonly hint: string; readonly at?: string };
}

export interface ShortCommand {
  readonly starter: Starter;
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly timeoutMs: number;
  readonly stdin?: string;
}

/** Runs a `read` or `local` command in its own short process. A refusal is a document like any other. */
export async function shortCommand(order: ShortCommand, signal: AbortSignal): Promise<CommandDocument> {
  const { command, ...rest } = order;
  const args = [command, "--json", "--no-input", ...order.args];
  const end = await runShort({ ...rest, args }, signal);
  if (end.kind === "cancelled") throw new DOMException("cancelled", "AbortError");
  const document = parse(end.stdout);
  if (document !== undefined) return document;
  const how = end.kind === "exited" ? `it ended with ${end.code}` : end.kind.replaceAll("-", " ");
  const words = end.stderr.trim().split("\n").slice(-3).join(" ");
  throw new OrchError("env.no-runner", `orch ${command} gave no answer: ${how}${words === "" ? "" : `. ${words}`}`);
}

function parse(text: string): CommandDocument | undefined {
  try {
    const value: unknown = JSON.parse(text);
    const fits = typeof value === "object" && value !== null && "summary" in value && "code" in value;
    if (!fits) return undefined;
    const { error, next, ...rest } = value as unknown as CommandDocument & {
      readonly error?: CommandDocument["error"] | null;
    };
    return { ...rest, next: Array.isArray(next) ? next : [], ...(error == null ? {} : { error }) };
  } catch {
    return undefined;
  }
}

/** A part of a document's `data`, when it has the shape asked for. */
export function listIn(data: unknown, name: string): readonly Readonly<Record<string, unknown>>[] {
  if (typeof data !== "object" || data === null) return [];
  const list: unknown = Reflect.get(data, name);
  return Array.isArray(list)
    ? list.filter((one): one is Record<string, unknown> => typeof one === "object" && one !== null)
    : [];
}

export function textIn(row: Readonly<Record<string, unknown>>, name: string): string {
  const value = row[name];
  return typeof value === "string" ? value : "";
}
