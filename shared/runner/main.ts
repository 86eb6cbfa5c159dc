import process from "node:process";
import { startRunnerProcess } from "./runner-process.ts";
import { createRunnerDeps } from "../app/runner-deps.ts";

// The bundle's entry: everything it does is in runner-process.ts, which a test can start in its own process.
await startRunnerProcess(
  {
    argv: process.argv.slice(2),
    on: (event, listener) => process.on(event, listener),
    writeError: (text) => process.stderr.write(text),
    exit: (code) => process.exit(code),
  },
  () => createRunnerDeps(import.meta.url),
);
