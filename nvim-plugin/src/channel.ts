import process from "node:process";
import { Writable } from "node:stream";
import { attach, type NeovimClient } from "neovim";
import { getLogger } from "./logger.ts";

type ClientLogger = NonNullable<NonNullable<Parameters<typeof attach>[0]["options"]>["logger"]>;

export interface Message {
  /** Absent when no answer is wanted. */
  readonly id?: number;
  readonly method: string;
  readonly params?: Readonly<Record<string, unknown>>;
}

/** Rejections travel back as the reply's error. */
export type Handle = (message: Message, signal: AbortSignal) => Promise<unknown>;

/**
 * RPC over stdio with the Neovim that started this process. Neovim notifies, so that it never waits for us; what we say
 * enters Lua at one place, `require("orch.rpc").recv(event, payload)`, and nothing here ever waits for the editor on a
 * run's path: it may sit in a prompt for minutes.
 */
export interface Channel {
  /** Resolves when Neovim took it, or cannot any more. */
  emit(event: string, payload: unknown): Promise<void>;
  /** Ends this process after what `onClose` does. */
  close(code: number): void;
}

export function openChannel(handle: Handle, onClose: () => void): Channel {
  const nvim = attachToStdio(() => close(0));
  const inFlight = new Map<number, AbortController>();
  let closing = false;
  /** The question whose picker Neovim sits in. */
  let picking = "";

  /** Before 0.11 a picker keeps Neovim from everything but its fast calls. <Esc> does nothing where it was left already. */
  const endPicker = async (): Promise<void> => {
    const { blocking } = (await nvim.request("nvim_get_mode")) as { readonly blocking: boolean };
    if (blocking) await nvim.request("nvim_input", ["<Esc>"]);
  };
  const emit: Channel["emit"] = async (event, payload) => {
    if (closing) return;
    try {
      const took = nvim.request("nvim_exec_lua", ["require('orch.rpc').recv(...)", [event, payload]]);
      // After it is on its way, so that the picker's end finds it waiting.
      if (event === "retract" && isRetracted(payload, picking)) await Promise.all([took, endPicker()]);
      await took;
    } catch (error) {
      getLogger().error(`emit ${event}:`, error);
    }
  };
  const close = (code: number): void => {
    if (closing) return;
    closing = true;
    for (const stop of inFlight.values()) stop.abort();
    onClose();
    process.exit(code);
  };
  const dispatch = async (message: Message): Promise<void> => {
    if (message.method === "shutdown") return close(0);
    const stop = new AbortController();
    const { id } = message;
    if (id !== undefined) inFlight.set(id, stop);
    try {
      const result = await handle(message, stop.signal);
      if (id !== undefined) await emit("reply", { id, result: result ?? true });
    } catch (error) {
      if (id === undefined) getLogger().error(`${message.method}:`, error);
      else await emit("reply", { id, error: faultOf(error) });
    } finally {
      if (id !== undefined) inFlight.delete(id);
    }
  };

  nvim.on("notification", (method: string, args: readonly unknown[]) => {
    const [message] = args;
    if (method !== "orch" || !isMessage(message)) return;
    if (message.method === "picking") picking = askOf(message);
    else if (message.method === "cancel") inFlight.get(Number(message.params?.["id"]))?.abort();
    else void dispatch(message); // it answers for itself
  });
  // Any request is a mistake, since it blocks the editor: answer it, or the editor hangs for ever.
  nvim.on("request", (method: string, _args: unknown, response: { send(value: unknown, isError?: boolean): void }) =>
    response.send(`no such request: ${method}`, true),
  );
  // The end of stdin is the only way out that also covers a killed Neovim.
  nvim.on("disconnect", () => close(0));
  process.stdout.on("error", () => close(0));
  for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"] as const) process.on(signal, () => close(0));
  process.on("uncaughtException", (error) => crash("uncaught:", error));
  process.on("unhandledRejection", (error) => crash("unhandled rejection:", error));
  const crash = (words: string, error: unknown): void => {
    getLogger().error(words, error);
    close(70);
  };
  return { emit, close };
}

/**
 * Keeps the real stdout for RPC and sends everybody else's to stderr: one stray byte would close the channel. `onClosed`:
 * Neovim has closed it.
 */
function attachToStdio(onClosed: () => void): NeovimClient {
  const toNvim = process.stdout.write.bind(process.stdout) as (chunk: Uint8Array, done: () => void) => boolean;
  const writer = new Writable({
    write(chunk: Uint8Array, _encoding, done) {
      toNvim(chunk, done);
    },
  });
  writer.on("error", onClosed);
  process.stdout.write = process.stderr.write.bind(process.stderr);
  const logger = getLogger() as unknown as ClientLogger;
  return attach({ reader: process.stdin, writer, options: { logger } });
}

function isMessage(value: unknown): value is Message {
  return typeof value === "object" && value !== null && "method" in value && typeof value.method === "string";
}

function askOf({ params }: Message): string {
  const ask = params?.["ask"];
  return typeof ask === "string" ? ask : "";
}

/** Lua names a question by its run and its id. */
function isRetracted(gone: unknown, picking: string): boolean {
  if (typeof gone !== "object" || gone === null || !("run" in gone) || !("id" in gone)) return false;
  return `${String(gone.run)}/${String(gone.id)}` === picking;
}

/** What Lua shows: words, and the code and hint of a refusal. */
function faultOf(error: unknown): { readonly message: string; readonly hint?: string; readonly code?: string } {
  if (typeof error !== "object" || error === null || !("message" in error)) return { message: String(error) };
  const part = (name: "hint" | "code"): { readonly [key: string]: string } => {
    const value: unknown = Reflect.get(error, name);
    return typeof value === "string" && value !== "" ? { [name]: value } : {};
  };
  return { message: String(error.message), ...part("hint"), ...part("code") };
}
