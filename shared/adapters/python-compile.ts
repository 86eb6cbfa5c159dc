import { throwIfAborted } from "../base/abort.ts";
import { splitJsonl, toJsonl } from "../base/jsonl.ts";
import type { AbsPath } from "../base/paths.ts";
import type { Process } from "../ports/process.ts";
import type { ExactSyntax, ExactSyntaxResult, SyntaxAnswer } from "../ports/syntax.ts";

export interface PythonCompileDeps {
  readonly process: Pick<Process, "run" | "which">;
  /** The child's whole environment; PATH finds the interpreter. */
  readonly env: Readonly<Record<string, string>>;
  /** A folder outside the repository: version managers read files of the working directory. */
  readonly cwd: AbsPath;
}

/**
 * Exact Python syntax: one `python3 -I` child compiles every file and runs none. `ast.parse` accepts a quarter of what
 * the compiler refuses, and a child for each file would cost more than all rules together.
 */
export function createPythonCompile(deps: PythonCompileDeps): ExactSyntax {
  return {
    async check(files, signal) {
      if (files.length === 0) return { kind: "checked", by: "", answers: new Map() };
      let why = "python3 was not found";
      for (const program of await interpreters(deps)) {
        const result = await checkWith(deps, program, files, signal);
        if (result.kind === "checked") return result;
        ({ why } = result);
      }
      return { kind: "not-verified", why };
    },
  };
}

/** Versions 2 answer with an exit code of their own, so that the next interpreter is asked. */
const script = `
import sys
if sys.version_info < (3,):
    sys.exit(3)
import json, warnings
warnings.simplefilter("ignore")
out = sys.stdout
out.write(json.dumps({"python": "%d.%d.%d" % sys.version_info[:3]}) + "\\n")
out.flush()
for line in sys.stdin:
    at, path = json.loads(line)
    answer = [at]
    try:
        with open(path, "rb") as file:
            text = file.read()
        compile(text, path, "exec", dont_inherit=True)
    except SyntaxError as error:
        answer += ["fault", error.lineno or 1, error.offset or 1, str(error.msg)]
    except ValueError as error:
        answer += ["fault", 1, 1, str(error)]
    except OSError as error:
        answer += ["unverified", error.strerror or "it cannot be read"]
    except (RecursionError, MemoryError, OverflowError) as error:
        answer += ["unverified", "too deep or too large for the compiler (%s)" % type(error).__name__]
    out.write(json.dumps(answer) + "\\n")
    out.flush()
`;

const maxInterpreters = 4;
const maxCrashes = 20;
const startMs = 30_000;
const perFileMs = 50;

async function interpreters({ process, env }: PythonCompileDeps): Promise<readonly (readonly [string, ...string[]])[]> {
  const found = new Set<string>();
  const path = env["PATH"] ?? env["Path"] ?? "";
  const folders = path.split(/^[A-Za-z]:\\|;/.test(path) ? ";" : ":");
  for (const command of ["python3", "python"]) {
    for (const folder of folders) {
      const place = folder === "" || found.size >= maxInterpreters ? undefined : await process.which(command, folder);
      if (place !== undefined) found.add(place);
    }
  }
  const py = await process.which("py", path);
  return [...[...found].map((place) => [place] as const), ...(py === undefined ? [] : [[py, "-3"] as const])];
}

async function checkWith(
  deps: PythonCompileDeps,
  program: readonly [string, ...string[]],
  files: readonly AbsPath[],
  signal: AbortSignal,
): Promise<ExactSyntaxResult> {
  const answers = new Map<AbsPath, SyntaxAnswer>();
  let by = "";
  for (let crashes = 0; answers.size < files.length; crashes += 1) {
    const rest = files.filter((file) => !answers.has(file));
    if (crashes > maxCrashes) {
      for (const file of rest) answers.set(file, { kind: "unverified", why: "the check crashed too often" });
      break;
    }
    const run = await deps.process.run(
      {
        argv: [...program, "-I", "-S", "-W", "ignore", "-c", script],
        cwd: deps.cwd,
        env: deps.env,
        timeoutMs: startMs + rest.length * perFileMs,
        maxOutputBytes: 64 * 1024 * 1024,
        stdin: rest.map((file, index) => toJsonl([index, file])).join(""),
      },
      signal,
    );
    throwIfAborted(signal);
    const [hello, ...lines] = splitJsonl(new TextDecoder().decode(run.stdout)).lines;
    const version = versionOf(hello);
    if (version === undefined)
      return { kind: "not-verified", why: `${program.join(" ")} did not start: ${endOf(run)}` };
    by = `Python ${version}`;
    for (const line of lines) record(line, rest, answers);
    const next = rest.find((file) => !answers.has(file));
    if (next === undefined) break;
    answers.set(next, { kind: "unverified", why: `the compiler did not answer (${endOf(run)})` });
  }
  return { kind: "checked", by, answers };
}

function endOf(exit: Awaited<ReturnType<Process["run"]>>): string {
  switch (exit.kind) {
    case "exited":
      return `exit ${exit.code}`;
    case "signalled":
      return exit.signal;
    case "not-started":
      return exit.reason;
    case "timed-out":
    case "cancelled":
    case "too-much-output":
      return exit.kind;
  }
}

function versionOf(line: string | undefined): string | undefined {
  const value = parsed(line ?? "");
  if (typeof value !== "object" || value === null || !("python" in value)) return undefined;
  return typeof value.python === "string" ? value.python : undefined;
}

function record(line: string, files: readonly AbsPath[], answers: Map<AbsPath, SyntaxAnswer>): void {
  const value = parsed(line);
  if (!Array.isArray(value)) return;
  const [at, kind, ...rest] = value as readonly unknown[];
  const file = typeof at === "number" ? files[at] : undefined;
  if (file === undefined) return;
  if (kind === undefined) answers.set(file, { kind: "ok" });
  else if (kind === "unverified") answers.set(file, { kind, why: String(rest[0]) });
  else if (kind === "fault") {
    const [lineNumber, column, message] = rest;
    answers.set(file, {
      kind,
      fault: { line: atLeastOne(lineNumber), column: atLeastOne(column), message: String(message) },
    });
  }
}

function atLeastOne(value: unknown): number {
  return typeof value === "number" && value >= 1 ? value : 1;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
