import { equal } from "node:assert/strict";
import { spawn } from "node:child_process";
import diagnostics from "node:diagnostics_channel";
import { type EventEmitter, once } from "node:events";
import { createFiles } from "../../shared/adapters/files.ts";
import { createClock } from "../../shared/adapters/clock.ts";
import { createCommitPushFinisher } from "../../shared/adapters/finish-commit-push.ts";
import { createRedactor } from "../../shared/adapters/redact.ts";
import { createRunLogs } from "../../shared/adapters/run-log.ts";
import { createBranchWorkspaces } from "../../shared/adapters/workspace-branch.ts";
import { inRoot, type RepoPath } from "../../shared/base/paths.ts";
import { runContract } from "../../shared/engine/run-contract.ts";
import { Contract } from "../../shared/model/contract.ts";
import { dir, feature } from "../support/feature-bench.ts";
import { ScriptedWorker } from "../support/scripted-worker.ts";
import { keepBench } from "./kept.ts";
import { median } from "./measured.ts";

const rounds = Number(process.env["ORCH_BENCH_ROUNDS"] ?? 3) * 3;
const never = new AbortController().signal;
const slice = dir as RepoPath;

/** When any child process was alive: what is left of the wall time is the engine's own, node's part of starting included. */
class ChildTime implements Disposable {
  readonly #spans: [from: number, to: number][] = [];
  readonly #open = new Map<object, number>();
  count = 0;
  readonly #listen = (message: unknown): void => {
    const { process: child } = message as { readonly process: EventEmitter };
    this.count += 1;
    this.#open.set(child, performance.now());
    child.once("exit", () => {
      this.#spans.push([this.#open.get(child) ?? 0, performance.now()]);
      this.#open.delete(child);
    });
  };

  constructor() {
    diagnostics.subscribe("child_process", this.#listen);
  }

  /** Milliseconds in which at least one child was alive. */
  get ms(): number {
    let end = 0;
    let sum = 0;
    for (const [from, to] of this.#spans.toSorted(([a], [b]) => a - b)) {
      sum += Math.max(0, to - Math.max(from, end));
      end = Math.max(end, to);
    }
    return sum;
  }

  [Symbol.dispose](): void {
    diagnostics.unsubscribe("child_process", this.#listen);
  }
}

/** What starting programs costs this process whatever they are: CPU milliseconds for `count` times `git version`. */
async function cpuOfStarting(count: number): Promise<number> {
  const cpu = process.cpuUsage();
  for (let index = 0; index < count; index += 1) {
    const child = spawn("git", ["version"], { stdio: ["ignore", "pipe", "pipe"] });
    child.stdout.resume();
    child.stderr.resume();
    await once(child, "close");
  }
  const { user, system } = process.cpuUsage(cpu);
  return (user + system) / 1000;
}

describe("bench: engine", function () {
  this.timeout(600_000);

  it("an empty contract: one line written, committed, logged; no gates", async () => {
    await using bench = await feature({ remote: false });
    const { context, repo } = bench;
    const wall: number[] = [];
    const children: number[] = [];
    const calls: number[] = [];
    // On a busy machine the wall holds waiting for a core; this does not.
    const own: number[] = [];
    const starting: number[] = [];
    // The first one pays for what Node compiles; a runner pays it too, and the rounds after it show the engine.
    for (let round = -1; round < rounds; round += 1) {
      const runDir = inRoot(
        context.machine.stateDir,
        "runs",
        `r-20260131-101500-a${String(round + 2).padStart(3, "0")}`,
      );
      const logs = createRunLogs({ clock: createClock(), files: createFiles(), redactor: createRedactor([]) });
      using log = await logs.open(`r-20260131-101500-a${String(round + 2).padStart(3, "0")}`, runDir);
      const contract = Contract.parse({
        id: "Invoice",
        title: "Invoice",
        goal: "x",
        allowed: [`${slice}/**`],
        protected: [`${slice}/spec.md`],
        max_attempts: 1,
      });
      using child = new ChildTime();
      const cpu = process.cpuUsage();
      const began = performance.now();
      const outcome = await runContract(
        {
          contract,
          replyDir: slice,
          workspaces: createBranchWorkspaces(context, {
            slice,
            registry: ".features.json" as RepoPath,
            stateFile: inRoot(runDir, "workspace.json"),
          }),
          ladder: [new ScriptedWorker([{ files: { [`${slice}/Handler.py`]: `# round ${round}\n` } }])],
          gates: [],
          finisher: createCommitPushFinisher(
            { git: context.git, sink: log },
            {
              slice,
              registry: ".features.json" as RepoPath,
              name: "Invoice",
              push: false,
              trusted: () => Promise.resolve(false),
            },
          ),
          sink: log,
          clock: createClock(),
          limits: { maxAttempts: 1, maxRevisions: 0, acceptRevise: 1, acceptWarn: 1 },
          compose: () => Promise.resolve({ messages: [{ role: "user", content: "x" }] }),
          priorAttempts: [],
          run: log.run,
          runDir,
        },
        never,
      );
      const took = performance.now() - began;
      const { user, system } = process.cpuUsage(cpu);
      const spent = { ms: child.ms, count: child.count };
      equal(outcome.state, "accepted", JSON.stringify(outcome.decision));
      if (round < 0) continue;
      wall.push(took);
      children.push(spent.ms);
      calls.push(spent.count);
      own.push((user + system) / 1000);
      starting.push(await cpuOfStarting(spent.count));
    }
    equal(await repo.git("log", "-1", "--format=%s"), "feat: Invoice");
    const overhead = wall.map((ms, round) => ms - (children[round] ?? 0));
    keepBench("engine", {
      ratios: [
        {
          what: "an empty contract, wall",
          reference: "the raw git and subprocess calls in it",
          ratio: median(wall.map((ms, round) => ms / (children[round] ?? Number.NaN))),
        },
        {
          what: "an empty contract, CPU of the engine's process",
          reference: "starting git version as often from Node",
          ratio: median(own.map((ms, round) => ms / (starting[round] ?? Number.NaN))),
        },
      ],
      goals: [
        { what: "above the raw git and subprocess calls", measured: median(overhead), goal: 150, unit: "ms" },
        {
          what: "the engine's own CPU, without starting the calls",
          measured: median(own.map((ms, round) => ms - (starting[round] ?? Number.NaN))),
          goal: 150,
          unit: "ms",
        },
      ],
      measured: {
        rounds,
        ownCpuMs: median(own),
        startingCpuMs: median(starting),
        wallMs: median(wall),
        childMs: median(children),
        overheadMs: median(overhead),
        calls: median(calls),
      },
    });
  });
});
