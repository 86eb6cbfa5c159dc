import { spawn } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { sourceRoot } from "./source-root.ts";

/** The built command line as a person starts it: the launcher of the bundle, nothing of the test's process in between. */
export interface CliEnd {
  /** undefined when a signal ended it. */
  readonly code: number | undefined;
  readonly stdout: string;
  readonly stderr: string;
}

export interface CliDocument {
  readonly schema: string;
  readonly command: string;
  readonly ok: boolean;
  readonly code: number;
  readonly summary: string;
  readonly next: readonly string[];
  // oxlint-disable-next-line typescript/no-explicit-any -- a command's own document: each test says what it expects of it
  readonly data: any;
  readonly error: { readonly code: string; readonly message: string; readonly hint: string } | null;
}

export interface RunningCli {
  readonly pid: number;
  readonly end: Promise<CliEnd>;
  /** Resolves once `pattern` occurred on stdout or stderr; rejects when the program ended without it. */
  seen(pattern: RegExp): Promise<void>;
  kill(signal: NodeJS.Signals): void;
}

export const cliEntry = path.join(sourceRoot, "dist", "cli", "orch.cjs");

export interface CliPlace {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  /** What the program finds on its standard input, which is closed otherwise. */
  readonly stdin?: string;
}

export function startCli(place: CliPlace, ...args: readonly string[]): RunningCli {
  if (!fs.existsSync(cliEntry)) throw new Error(`${cliEntry} is missing: npm run build`);
  const child = spawn(process.execPath, [cliEntry, ...args], {
    cwd: place.cwd,
    env: { ...place.env, ORCH_NODE: process.execPath },
    stdio: [place.stdin === undefined ? "ignore" : "pipe", "pipe", "pipe"],
  });
  child.stdin?.end(place.stdin);
  const texts = { stdout: "", stderr: "" };
  const waiting = new Set<() => void>();
  for (const [name, stream] of [
    ["stdout", child.stdout],
    ["stderr", child.stderr],
  ] as const) {
    stream?.setEncoding("utf8").on("data", (text: string) => {
      texts[name] += text;
      for (const look of waiting) look();
    });
  }
  const end = new Promise<CliEnd>((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (code) => resolve({ code: code ?? undefined, ...texts }));
  });
  return {
    pid: child.pid ?? -1,
    end,
    seen(pattern) {
      return new Promise((resolve, reject) => {
        const look = (): void => {
          if (!pattern.test(texts.stdout) && !pattern.test(texts.stderr)) return;
          waiting.delete(look);
          resolve();
        };
        waiting.add(look);
        look();
        void end.then(({ code, stdout, stderr }) => {
          if (waiting.has(look)) reject(new Error(`it ended with ${code} before ${pattern}:\n${stdout}\n${stderr}`));
        }, reject);
      });
    },
    kill: (signal) => void child.kill(signal),
  };
}

export function orch(place: CliPlace, ...args: readonly string[]): Promise<CliEnd> {
  return startCli(place, ...args).end;
}

/** Runs it with --json and reads the one document it must print. */
export async function orchJson(place: CliPlace, ...args: readonly string[]): Promise<CliDocument> {
  const end = await orch(place, ...args, "--json");
  const lines = end.stdout.split("\n").filter((line) => line !== "");
  if (lines.length !== 1)
    throw new Error(`${lines.length} lines on stdout instead of one document:\n${end.stdout}\n${end.stderr}`);
  const document: CliDocument = JSON.parse(lines[0] ?? "");
  if (document.code !== end.code) throw new Error(`the document says ${document.code}, the process ${end.code}`);
  return document;
}
