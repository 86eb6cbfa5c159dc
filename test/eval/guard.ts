import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { parseArgs } from "node:util";
import { createClock } from "../../shared/adapters/clock.ts";
import { createFiles } from "../../shared/adapters/files.ts";
import { createGit } from "../../shared/adapters/git.ts";
import { createProcess } from "../../shared/adapters/process.ts";
import { openGuard } from "../../shared/app/guard-gates.ts";
import { installedRules } from "../../shared/app/project-rules.ts";
import { absPath, inRoot } from "../../shared/base/paths.ts";
import { runGate } from "../../shared/engine/attempt.ts";
import type { Finding } from "../../shared/model/finding.ts";
import type { GateInput } from "../../shared/ports/gate.ts";
import { contractOf, observedOf, replayed, reportOf } from "./case-input.ts";
import { type CorpusCase, gitEnv, materialise, readCorpus } from "./corpus.ts";
import { byCategory, type CaseScore, categoryOf, figuresOf, type Judged, scoreCase } from "./score.ts";

/**
 * npm run eval:guard -- --corpus DIR [--json] [--only TEXT]: the gates that contracts go through, asked about every case
 * of a corpus. Real git, real rules, real syntax trees; what a case says of its worker and of its checks is replayed.
 */
const never = new AbortController().signal;
const installRoot = absPath(path.resolve(import.meta.dirname, "../.."));

async function main(): Promise<number> {
  const { values } = parseArgs({
    options: { corpus: { type: "string" }, json: { type: "boolean" }, only: { type: "string" } },
  });
  if (values.corpus === undefined || !fs.existsSync(values.corpus)) {
    console.error("Name the folder of the corpus.\nNext: npm run eval:guard -- --corpus DIR");
    return 2;
  }
  const cases = readCorpus(values.corpus).filter(
    ({ facts }) => (facts.platforms?.includes(process.platform) ?? true) && facts.id.includes(values.only ?? ""),
  );
  if (cases.length === 0) {
    console.error(`No case was found in ${values.corpus}.\nNext: a folder that holds cases/<id>/case.json`);
    return 2;
  }
  const judged = await inTurns(cases, async (one) => ({ facts: one.facts, findings: await judgeCase(one) }));
  const scores = judged.map(scoreCase);
  if (values.json === true) console.log(JSON.stringify(documentOf(judged, scores)));
  else print(judged, scores);
  return 0;
}

/** A case is mostly waiting for git: a few at once, answers in the order of the cases. */
async function inTurns<T, R>(items: readonly T[], run: (item: T) => Promise<R>): Promise<R[]> {
  const answers: R[] = [];
  let next = 0;
  const lane = async (): Promise<void> => {
    for (let at = next++; at < items.length; at = next++) {
      const item = items[at];
      if (item !== undefined) answers[at] = await run(item);
    }
  };
  await Promise.all([lane(), lane(), lane(), lane()]);
  return answers;
}

async function judgeCase(one: CorpusCase): Promise<readonly Finding[]> {
  const { facts } = one;
  const temp = fs.mkdtempSync(path.join(os.tmpdir(), "orch-eval-"));
  try {
    const { root, base, tree } = await materialise(one, path.join(temp, "repo"));
    const files = createFiles();
    const folder = absPath(fs.realpathSync(root));
    const git = await createGit({ folder, process: createProcess(), env: gitEnv });
    using guard = openGuard({
      installRoot,
      settings: { sources: await installedRules({ files, machine: { installRoot } as never }), switches: {} },
      files,
      process: replayed(facts),
      tests: {
        run: () => Promise.resolve({ kind: "missing-tool" as const, message: "no case runs a test program" }),
      },
      env: {},
      ids: { next: (prefix) => `${prefix}-1` },
      filesAt: (treeish) => git.filesAt(treeish),
    });
    const change = await git.diff(base, tree);
    const input: GateInput = {
      contract: contractOf(facts),
      attempt: 1,
      root: folder,
      change,
      report: reportOf(facts),
      observed: observedOf(facts),
      soFar: [],
      attemptDir: { relative: "case/attempt-1", absolute: absPath(path.join(temp, "attempt-1")) },
      sink: {
        append: () => undefined,
        sidecar: (at, data) => Promise.resolve({ path: at, bytes: data.length, sha256: "" }),
      },
      read: (at) => files.read(inRoot(folder, at)),
      readBase: (at) => git.fileAt(base, at),
    };
    const found: Finding[] = [];
    for (const gate of guard.gates) {
      if (gate.phase !== "change") continue;
      const { result } = await runGate(gate, { ...input, soFar: found }, createClock(), never);
      if (result.kind === "ran") found.push(...result.findings);
      // To the product a program's failure is no finding: the gate is broken, and policy asks a person. The corpus names it.
      if (result.kind === "broken")
        found.push({
          rule: "cli_error",
          severity: "FAIL",
          message: result.error.message,
          evidence: "",
          remedy: result.error.hint,
        });
    }
    return found;
  } finally {
    fs.rmSync(temp, { recursive: true, force: true });
  }
}

function documentOf(judged: readonly Judged[], scores: readonly CaseScore[]): unknown {
  return {
    schema: 1,
    ...figuresOf(scores),
    categories: byCategory(judged),
    cases: scores.map((score, at) => ({ ...score, findings: judged[at]?.findings ?? [] })),
  };
}

function print(judged: readonly Judged[], scores: readonly CaseScore[]): void {
  const figures = figuresOf(scores);
  console.log("category                  expected  found");
  for (const { category, expected, found } of byCategory(judged)) {
    const mark = found === expected ? "" : "  <";
    console.log(`${category.padEnd(26)}${String(expected).padStart(7)}${String(found).padStart(7)}${mark}`);
  }
  console.log("");
  for (const [at, score] of scores.entries()) {
    const wrong = [
      ...(score.kind === "adversarial" ? score.missed.map((one) => `missed ${one}`) : []),
      ...(score.lines.right < score.lines.wanted ? ["line"] : []),
      ...score.falseFail.map((one) => `false FAIL ${one}`),
      ...score.falseWarn.map((one) => `false WARN ${one}`),
      ...score.mustNot.map((one) => `must not ${one}`),
      ...(score.verdictRight ? [] : [`verdict ${score.verdict}`]),
    ];
    if (wrong.length === 0) continue;
    const said = (judged[at]?.findings ?? []).map((one) => `${categoryOf(one)}:${one.line ?? "-"}`);
    console.log(`${score.id} (${score.pattern}${score.hard ? ", hard" : ""}): ${wrong.join(", ")} [${said.join(" ")}]`);
  }
  console.log("");
  for (const [name, value] of Object.entries(figures))
    console.log(`${name.padEnd(12)} ${Number.isInteger(value) ? value : Number(value).toFixed(3)}`);
}

process.exitCode = await main();
