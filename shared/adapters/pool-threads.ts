import { existsSync } from "node:fs";
import { pathToFileURL } from "node:url";
import { Worker } from "node:worker_threads";
import { abortError, throwIfAborted } from "../base/abort.ts";
import { type AbsPath, inRoot } from "../base/paths.ts";
import type { BrokenRule } from "../model/rule.ts";
import type { AuditFile, FileAnswer, Pool, RuleSettings } from "../ports/pool.ts";
import type { PoolOrder, PoolReport, PoolStart } from "./pool-job.ts";

export interface ThreadPoolOptions {
  readonly installRoot: AbsPath;
  /** 1 or 2; 2 when absent. More threads have crashed editors' hosts. */
  readonly threads?: number;
  /** A file that is looked at longer than this is given up. */
  readonly stallMs?: number;
  readonly idleMs?: number;
  /** Compiled entry of the thread; found beside this module, or in `dist/pool`, when absent. */
  readonly entry?: URL;
}

/** Below this many files a second thread costs more than it gives. */
const alone = 60;
const batchSize = 24;

/** Port pool over worker threads. */
export function createThreadPool(options: ThreadPoolOptions): Pool {
  const most = Math.min(2, Math.max(1, options.threads ?? 2));
  const entry = options.entry ?? findEntry(options.installRoot);
  const idleThreads: Thread[] = [];
  const threads = new Set<Thread>();
  const broken = new WeakMap<RuleSettings, Map<string, BrokenRule>>();
  let disposed = false;
  let idle: NodeJS.Timeout | undefined;

  const take = (): Thread => {
    const thread = idleThreads.pop() ?? new Thread(entry, { installRoot: options.installRoot });
    threads.add(thread);
    return thread;
  };
  const end = async (thread: Thread): Promise<void> => {
    threads.delete(thread);
    await thread.end();
  };
  const give = (thread: Thread): void => {
    if (disposed || thread.dead) {
      void end(thread);
      return;
    }
    idleThreads.push(thread);
    clearTimeout(idle);
    idle = setTimeout(() => void Promise.all(idleThreads.splice(0).map(end)), options.idleMs ?? 10_000);
    idle.unref();
  };

  return {
    broken: (settings) => [...(broken.get(settings)?.values() ?? [])],
    async audit(settings, files, signal) {
      throwIfAborted(signal);
      const left = broken.get(settings) ?? new Map<string, BrokenRule>();
      broken.set(settings, left);
      const queue = batches(files);
      const answers = new Map<string, FileAnswer>();
      const work = async (): Promise<void> => {
        let thread = take();
        try {
          for (let batch = queue.shift(); batch; batch = queue.shift()) {
            throwIfAborted(signal);
            const done = await thread.audit(settings, batch, options.stallMs ?? 60_000, signal);
            for (const answer of done.answers) answers.set(answer.path, answer);
            for (const rule of done.broken) left.set(`${rule.path}:${rule.line} ${rule.rule} ${rule.reason}`, rule);
            if (done.rest.length === 0) continue;
            // The file it stopped at is the culprit; the others of its batch get a new thread, in order.
            const [culprit, ...rest] = done.rest;
            if (culprit) answers.set(culprit.path, { kind: "skipped", path: culprit.path, why: done.why });
            if (rest.length > 0) queue.unshift(rest);
            await end(thread);
            thread = take();
          }
        } catch (error) {
          await end(thread);
          throw error;
        }
        give(thread);
      };
      await Promise.all(Array.from({ length: files.length < alone ? 1 : most }, work));
      throwIfAborted(signal);
      return files.map(({ path }) => answers.get(path) ?? { kind: "skipped", path, why: "it was not answered" });
    },
    async [Symbol.asyncDispose]() {
      disposed = true;
      clearTimeout(idle);
      await Promise.all([...threads, ...idleThreads.splice(0)].map(end));
    },
  };
}

function findEntry(installRoot: AbsPath): URL {
  for (const name of ["pool-worker.js", "pool-worker.ts"]) {
    const beside = new URL(name, import.meta.url);
    if (import.meta.url.includes("/adapters/pool-threads.") && existsSync(beside)) return beside;
  }
  return pathToFileURL(inRoot(installRoot, "dist/pool/worker.mjs"));
}

function batches(files: readonly AuditFile[]): AuditFile[][] {
  // Sending a text costs more than reading it again.
  const orders = files.map(({ path, at, role }) => ({ path, at, ...(role === undefined ? {} : { role }) }));
  const out: AuditFile[][] = [];
  for (let at = 0; at < orders.length; at += batchSize) out.push(orders.slice(at, at + batchSize));
  return out;
}

interface BatchResult {
  readonly answers: readonly FileAnswer[];
  /** What was not answered, the file it stopped at first. */
  readonly rest: readonly AuditFile[];
  readonly broken: readonly BrokenRule[];
  readonly why: string;
}

/** One worker thread: one batch at a time, watched for crashes and stalls. */
class Thread {
  readonly #worker: Worker;
  #settings: RuleSettings | undefined;
  #id = 0;
  dead = false;

  constructor(entry: URL, start: PoolStart) {
    this.#worker = new Worker(entry, {
      workerData: start,
      stdin: false,
      env: {},
      execArgv: ["--disable-warning=ExperimentalWarning"],
      // Views of texts are garbage at once: a small young generation halves the memory and costs no time.
      resourceLimits: { maxOldGenerationSizeMb: 1024, maxYoungGenerationSizeMb: 8 },
    });
    this.#worker.unref();
  }

  async audit(
    settings: RuleSettings,
    files: readonly AuditFile[],
    stallMs: number,
    signal: AbortSignal,
  ): Promise<BatchResult> {
    const id = (this.#id += 1);
    const order: PoolOrder = { id, files, ...(this.#settings === settings ? {} : { settings }) };
    this.#settings = settings;
    const worker = this.#worker;
    const answers: FileAnswer[] = [];
    return await new Promise<BatchResult>((resolve, reject) => {
      let timer: NodeJS.Timeout | undefined;
      const settle = (act: () => void): void => {
        clearTimeout(timer);
        signal.removeEventListener("abort", onAbort);
        worker.off("message", onMessage).off("error", onError).off("exit", onExit);
        worker.unref();
        act();
      };
      const stopped = (why: string): void =>
        settle(() => {
          this.dead = true;
          resolve({ answers, rest: files.slice(answers.length), broken: [], why });
        });
      const watch = (): void => {
        clearTimeout(timer);
        timer = setTimeout(() => stopped("the check took too long"), stallMs);
      };
      const onAbort = (): void => settle(() => reject(abortError(signal)));
      const onMessage = (report: PoolReport): void => {
        if (report.id !== id) return;
        answers.push(report.answer);
        if (answers.length === files.length)
          settle(() => resolve({ answers, rest: [], broken: report.broken ?? [], why: "" }));
        else watch();
      };
      const onError = (error: Error): void => stopped(`the check crashed: ${error.message}`);
      const onExit = (): void => stopped("the check crashed");
      signal.addEventListener("abort", onAbort, { once: true });
      worker.on("message", onMessage).on("error", onError).on("exit", onExit);
      worker.ref();
      watch();
      worker.postMessage(order);
    });
  }

  async end(): Promise<void> {
    this.dead = true;
    await this.#worker.terminate();
  }
}
