import { Worker } from "node:worker_threads";
import * as z from "zod";
import { abortError, throwIfAborted } from "../base/abort.ts";
import type { AbsPath } from "../base/paths.ts";
import type { ExactSyntax, ExactSyntaxResult, SyntaxAnswer } from "../ports/syntax.ts";

/** Node's parts, as the parser's version. */
export const typeStripVersion = `Node.js ${process.version} ${process.versions["amaro"] ?? "-"}`;

const maxCrashes = 20;
const stallMs = 30_000;
/** Longer files are data. */
const maxChars = 4_000_000;

/**
 * Exact TypeScript syntax by the parser with which Node strips types; nothing of a file runs. A tree of the grammar is
 * no judge: it takes valid code for faulty (`in` and `out` of type parameters, types in `import()` types). Out of depth
 * the parser is lost for its whole thread, so it has one of its own, and the next file gets a new one.
 */
export function createTypeStrip(): ExactSyntax {
  return {
    async check(files, signal): Promise<ExactSyntaxResult> {
      throwIfAborted(signal);
      if (files.length === 0) return { kind: "checked", by: "", answers: new Map() };
      const answers = new Map<AbsPath, SyntaxAnswer>();
      for (let crashes = 0; answers.size < files.length; crashes += 1) {
        const rest = files.filter((file) => !answers.has(file));
        if (crashes > maxCrashes) {
          for (const file of rest) answers.set(file, { kind: "unverified", why: "the check crashed too often" });
          break;
        }
        const end = await inThread(rest, answers, signal);
        if (end.kind === "cannot") return { kind: "not-verified", why: end.why };
        const next = rest.find((file) => !answers.has(file));
        if (next !== undefined) answers.set(next, { kind: "unverified", why: end.why });
      }
      return { kind: "checked", by: `the TypeScript parser of Node.js ${process.versions.node}`, answers };
    },
  };
}

/** `cannot`: this Node has no such parser. Else why it stopped, when files are left. */
interface End {
  readonly kind: "cannot" | "ended";
  readonly why: string;
}

const Report = z.union([
  z.object({ kind: z.literal("cannot"), why: z.string() }),
  z.object({ kind: z.literal("lost"), why: z.string() }),
  z.object({
    kind: z.enum(["ok", "fault", "unverified"]),
    at: z.number(),
    why: z.string(),
    line: z.number(),
    column: z.number(),
  }),
]);
type Report = z.infer<typeof Report>;

async function inThread(
  files: readonly AbsPath[],
  answers: Map<AbsPath, SyntaxAnswer>,
  signal: AbortSignal,
): Promise<End> {
  const worker = new Worker(script, {
    eval: true,
    workerData: { files, maxChars },
    env: {},
    execArgv: ["--disable-warning=ExperimentalWarning"],
    resourceLimits: { maxOldGenerationSizeMb: 512 },
  });
  try {
    return await new Promise<End>((resolve, reject) => {
      let timer: NodeJS.Timeout | undefined;
      const watch = (): void => {
        clearTimeout(timer);
        timer = setTimeout(() => resolve({ kind: "ended", why: "the parser took too long" }), stallMs);
      };
      const onAbort = (): void => reject(abortError(signal));
      signal.addEventListener("abort", onAbort, { once: true });
      worker.on("message", (message: unknown) => {
        const report = Report.parse(message);
        if (report.kind === "cannot") resolve({ kind: "cannot", why: report.why });
        else if (report.kind === "lost") resolve({ kind: "ended", why: report.why });
        else {
          const file = files[report.at];
          if (file !== undefined) answers.set(file, answerOf(report));
          watch();
        }
      });
      worker.on("error", (error) => resolve({ kind: "ended", why: `the parser crashed: ${error.message}` }));
      worker.on("exit", () => {
        clearTimeout(timer);
        signal.removeEventListener("abort", onAbort);
        resolve({ kind: "ended", why: "the parser gave no answer" });
      });
      watch();
    });
  } finally {
    await worker.terminate();
  }
}

function answerOf({ kind, why, line, column }: Exclude<Report, { readonly kind: "cannot" | "lost" }>): SyntaxAnswer {
  switch (kind) {
    case "ok":
      return { kind };
    case "unverified":
      return { kind, why };
    case "fault":
      return { kind, fault: { line, column, message: why } };
  }
}

/**
 * The thread's side. What only cannot be stripped (enums, namespaces) is valid all the same. In a declaration file
 * everything is ambient, which this parser does not know: a fault there proves nothing. The place stands in the stack.
 */
const script = `
const { readFileSync } = require("node:fs");
const { parentPort, workerData } = require("node:worker_threads");
const { stripTypeScriptTypes: strip } = require("node:module");
const tell = (kind, at, why = "", line = 1, column = 1) => void parentPort.postMessage({ kind, at, why, line, column });
function tryOut() {
  if (typeof strip !== "function") return "this Node.js does not strip types";
  try {
    strip("const a: number = 1;");
  } catch (error) {
    return "the TypeScript parser of Node.js does not work: " + String(error && error.message).split("\\n")[0];
  }
}
function check(file, at) {
  let text;
  try {
    text = readFileSync(file, "utf8");
  } catch (error) {
    return tell("unverified", at, "it cannot be read (" + error.code + ")");
  }
  if (text.length > workerData.maxChars) return tell("unverified", at, "it is too long");
  try {
    strip(text, { sourceUrl: "file.ts" });
    tell("ok", at);
  } catch (error) {
    if (error && error.code === "ERR_UNSUPPORTED_TYPESCRIPT_SYNTAX") return tell("ok", at);
    if (!error || error.code !== "ERR_INVALID_TYPESCRIPT_SYNTAX") return "too deep for the TypeScript parser";
    if (/\\.d\\.[cm]?ts$/.test(file)) return tell("unverified", at, "declarations are not what this parser is for");
    const stack = String(error.stack).split("\\n");
    const line = /^file\\.ts:(\\d+)$/.exec(stack[0]);
    const marks = stack.slice(1, 8).find((one) => /^\\s*\\^+$/.test(one)) || "^";
    tell("fault", at, String(error.message).split("\\n")[0], line ? Number(line[1]) : 1, marks.indexOf("^") + 1);
  }
}
const why = tryOut();
if (why !== undefined) parentPort.postMessage({ kind: "cannot", why });
else
  for (let at = 0; at < workerData.files.length; at += 1) {
    const lost = check(workerData.files[at], at);
    if (lost === undefined) continue;
    parentPort.postMessage({ kind: "lost", why: lost });
    break;
  }
`;
