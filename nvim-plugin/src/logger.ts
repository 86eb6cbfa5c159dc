import process from "node:process";
import { inspect } from "node:util";

// Stands in for the client's own logger in the bundle (.ci/bundle.mjs): the same surface without winston. It never touches
// `console` and writes to stderr only, which Neovim keeps for `:Orch log`. stdout is the RPC channel.

type Write = (...parts: readonly unknown[]) => void;

export interface Logger {
  level: string;
  readonly debug: Write;
  readonly info: Write;
  readonly warn: Write;
  readonly error: Write;
}

const to =
  (level: string): Write =>
  (...parts) => {
    const words = parts.map((part) => (typeof part === "string" ? part : inspect(part, { depth: 3 })));
    process.stderr.write(`${level}: ${words.join(" ")}\n`);
  };
const silent: Write = () => {};

// `debug` would make the client copy every response just to print it.
const logger: Logger = { level: "warn", debug: silent, info: silent, warn: to("warning"), error: to("error") };

export function getLogger(): Logger {
  return logger;
}
