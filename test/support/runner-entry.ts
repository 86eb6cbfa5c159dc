// A runner whose command is a small script in its request, for tests of what is around commands. It is the product's
// own runner in everything but `execute`.
import { createRunOwnership } from "../../shared/adapters/run-ownership.ts";
import { createRunParts } from "../../shared/app/run-parts.ts";
import { raceAbort, throwIfAborted } from "../../shared/base/abort.ts";
import { absPath } from "../../shared/base/paths.ts";
import type { ErrorCode } from "../../shared/model/error-table.ts";
import { OrchError } from "../../shared/model/error.ts";
import { ownRunsDir } from "../../shared/model/run-place.ts";
import type { ExecuteRun, RunJob } from "../../shared/ports/run-job.ts";
import type { RunnerDeps } from "../../shared/runner/runner.ts";
import { startRunnerProcess } from "../../shared/runner/runner-process.ts";

/** `args.steps` of the request, carried out in order; a resumed run begins again from the first. */
export type Step =
  | { readonly do: "note"; readonly text: string }
  | { readonly do: "program"; readonly argv: readonly [string, ...string[]]; readonly marker: string }
  | { readonly do: "hang" }
  | { readonly do: "hang-first-time" }
  | { readonly do: "ignore-stop" }
  | {
      readonly do: "ask";
      readonly weight: "question" | "decision";
      readonly title: string;
      readonly otherwise?: string;
    }
  | { readonly do: "refuse"; readonly code: ErrorCode; readonly message: string }
  | { readonly do: "throw"; readonly message: string }
  | { readonly do: "throw-later"; readonly message: string }
  | { readonly do: "fill"; readonly bytes: number }
  | { readonly do: "secret"; readonly name: string };

const parts = createRunParts(process.env, []);

const execute: ExecuteRun = async (job, signal) => {
  const answers: string[] = [];
  for (const step of (job.request.args["steps"] ?? []) as readonly Step[]) {
    throwIfAborted(signal);
    await take(step, job, answers, signal);
  }
  return {
    ok: true,
    code: 0,
    summary: "All steps done",
    next: ["orch status"],
    data: { answers, resumed: job.resumed },
  };
};

const forever = (): Promise<never> => new Promise<never>(() => setInterval(() => undefined, 1000));

async function take(step: Step, job: RunJob, answers: string[], signal: AbortSignal): Promise<void> {
  switch (step.do) {
    case "note":
      job.log.append({ type: "progress.noted", text: step.text });
      return;
    case "program": {
      const onStart = (pid: number, startTime: string): void =>
        job.log.append({ type: "process.started", pid, startTime, marker: step.marker, what: step.argv[0] });
      const env = { PATH: process.env["PATH"] ?? "" };
      const spec = {
        argv: step.argv,
        cwd: absPath(job.request.cwd),
        env,
        timeoutMs: 60_000,
        maxOutputBytes: 1_000_000,
        graceMs: 200,
        marker: step.marker,
        onStart,
      };
      const result = await parts.process.run(spec, signal);
      job.log.append({ type: "progress.noted", text: `program: ${result.kind}` });
      throwIfAborted(signal);
      return;
    }
    case "hang":
      return raceAbort(forever(), signal);
    case "hang-first-time":
      return job.resumed ? undefined : raceAbort(forever(), signal);
    case "ignore-stop":
      return forever();
    case "ask": {
      const choices = [
        { id: "yes", label: "Yes" },
        { id: "no", label: "No" },
      ];
      const otherwise = step.otherwise === undefined ? {} : { otherwise: step.otherwise };
      const answer = await job.editor.ask(
        { kind: "confirm", weight: step.weight, title: step.title, choices, ...otherwise },
        signal,
      );
      answers.push(answer?.choice ?? "dismissed");
      return;
    }
    case "refuse":
      throw new OrchError(step.code, step.message);
    case "throw":
      throw new Error(step.message);
    case "throw-later":
      setImmediate(() => {
        throw new Error(step.message);
      });
      return raceAbort(forever(), signal);
    case "fill":
      for (let left = step.bytes; left > 0; left -= 1000)
        job.log.append({ type: "progress.noted", text: "x".repeat(900) });
      return;
    case "secret":
      job.log.append({ type: "progress.noted", text: `the key is ${process.env[step.name]}` });
      return;
  }
}

const number = (name: string): number | undefined =>
  process.env[name] === undefined ? undefined : Number(process.env[name]);

function deps(): RunnerDeps {
  const parkAfterMs = number("TEST_PARK_AFTER_MS");
  const questionMs = number("TEST_QUESTION_MS");
  return {
    ...parts,
    execute,
    async end(job) {
      const refuses = process.env["TEST_END_REFUSES"];
      if (refuses !== undefined) throw new OrchError("branch.wrong", refuses);
      job.log.append({ type: "progress.noted", text: "put back" });
    },
    ownership: createRunOwnership(parts.files, ownRunsDir(absPath(process.env["TEST_STATE"] ?? "/nowhere"))),
    sweep: parts.process,
    pid: process.pid,
    version: "0.0.0-test",
    ...(parkAfterMs === undefined ? {} : { parkAfterMs }),
    ...(questionMs === undefined ? {} : { questionMs }),
  };
}

await startRunnerProcess(
  {
    argv: process.argv.slice(2),
    on: (event, listener) => process.on(event, listener),
    writeError: (text) => process.stderr.write(text),
    exit: (code) => process.exit(code),
  },
  deps,
);
