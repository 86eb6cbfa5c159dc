import process from "node:process";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";

// The entry of the command line. Beside it lies the runner: `../runner/main`, with this file's own extension.
const extension = import.meta.url.endsWith(".mjs") ? "mjs" : import.meta.url.endsWith(".ts") ? "ts" : "js";

const own = {
  argv: process.argv.slice(2),
  env: process.env,
  cwd: () => process.cwd(),
  platform: process.platform,
  moduleUrl: import.meta.url,
  stdout: (text: string) => void process.stdout.write(text),
};

// A reader that has seen enough (`orch runs | head -1`) is no fault, and a run goes on without it.
for (const stream of [process.stdout, process.stderr]) {
  stream.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code !== "EPIPE") throw error;
  });
}

// Both are loaded when they are needed: a person who presses Tab waits for the first one.
if (own.argv[0] === "__complete") {
  const { complete } = await import("./complete.ts");
  await complete(own);
} else {
  const { runProgram } = await import("./program.ts");
  const { isInteractive } = await import("./terminal.ts");
  process.exitCode = await runProgram({
    ...own,
    execPath: process.execPath,
    runnerEntry: fileURLToPath(new URL(`../runner/main.${extension}`, import.meta.url)),
    interactive: isInteractive(),
    color: process.stdout.isTTY && process.env["NO_COLOR"] === undefined,
    columns: process.stdout.columns ?? 100,
    stdin: () => text(process.stdin),
    stderr: (words) => void process.stderr.write(words),
    onInterrupt(listener) {
      process.on("SIGINT", listener);
      return () => void process.off("SIGINT", listener);
    },
    now: () => Date.now(),
  });
  // The result is out: a Ctrl-C that comes now must not take the exit code away from who waits for it.
  process.on("SIGINT", () => process.exit());
}
