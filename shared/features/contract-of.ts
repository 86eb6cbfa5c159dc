import { linesOf } from "../base/lines.ts";
import type { RepoPath } from "../base/paths.ts";
import { Contract } from "../model/contract.ts";
import type { Feature } from "../model/feature.ts";
import type { Pack } from "../model/pack.ts";
import { targetText } from "../model/target.ts";
import type { TestCommand } from "../ports/test-runner.ts";
import { roleFiles } from "./packs.ts";
import { parseSpec, plainCell, specRows, specSection } from "./spec.ts";

export interface FeatureWork {
  readonly feature: Feature;
  readonly pack: Pack;
  /** Whole text of spec.md. */
  readonly spec: string;
  /** The person's words of this call; empty when there are none. */
  readonly request: string;
  /** False with --no-controller. */
  readonly controller: boolean;
  /** The command that runs the slice's tests, as the test runner chose it. */
  readonly tests: TestCommand;
  readonly maxAttempts: number;
  /** Files of the slice that a person marked (`isMarkedProtected`). */
  readonly marked: readonly RepoPath[];
  /** Neighbours shown as examples. */
  readonly fewShots: readonly RepoPath[];
  /** Lines of the slice's files now. */
  readonly existingLines: number;
  readonly maxMinutes?: number;
  readonly maxCostUsd?: number;
}

/** Whole files are written, so a change counts its old lines and its new ones; the budget stops only what runs wild. */
const baseLines = 2000;
const maxAcceptance = 60;

/**
 * A feature as one contract, so that `do` runs through the same engine as contracts do. Allowed: the slice's folder as a
 * glob, and each role file named exactly, which lifts the "existing test" rule for its Tests file. Protected: spec.md,
 * the root files of the pack, what a person marked, and the controller of a feature that has none. Checks: the slice's
 * tests.
 */
export function contractOf(work: FeatureWork): Contract {
  const { feature, pack } = work;
  const spec = parseSpec(work.spec);
  const roles = roleFiles(pack).filter(({ role }) => role !== "controller" || work.controller);
  const { controller } = pack.roles;
  const unwanted = work.controller || controller === undefined ? [] : [`${feature.dir}/${controller}`];
  const budget = baseLines + work.existingLines * 2;
  return Contract.parse({
    id: feature.id,
    title: targetText(feature.target),
    goal: goalOf(work, specSection(spec, "Overview")?.body ?? ""),
    non_goals: work.controller ? [] : [`no ${pack.roles.controller ?? "controller"}: this feature has no controller`],
    kind: "feature",
    max_attempts: work.maxAttempts,
    ...(work.maxMinutes === undefined ? {} : { max_minutes: work.maxMinutes }),
    ...(work.maxCostUsd === undefined ? {} : { max_cost_usd: work.maxCostUsd }),
    allowed: [`${literal(feature.dir)}/**`, ...roles.map(({ name }) => `${feature.dir}/${name}`)],
    protected: [...new Set([feature.spec, ...pack.rootFiles, ...work.marked, ...unwanted])],
    max_diff_lines: budget,
    max_test_diff_lines: budget * 3,
    acceptance: acceptanceOf(work.spec),
    checks: [
      {
        name: "tests",
        argv: [...work.tests.argv],
        timeout_s: work.tests.timeoutMs / 1000,
        cwd: ".",
        report: pack.test.report,
        env: { ...work.tests.env },
      },
    ],
    pattern_refs: [...work.fewShots],
    examples: specRows(spec, "Examples").map(({ cells }) => ({
      input: plainCell(cells[0] ?? ""),
      expected: plainCell(cells[1] ?? ""),
    })),
    rules: (specSection(spec, "Rules")?.items ?? []).map(({ text }) => text),
    include_untracked: [feature.dir, feature.registry],
  });
}

/**
 * A person protects a file of the slice from every worker by the words `orch: protected` in one of its first five lines,
 * as a comment of the file's language: `# orch: protected`.
 */
export function isMarkedProtected(text: string): boolean {
  return linesOf(text.slice(0, 4000))
    .slice(0, 5)
    .some((line) => /^\s*(?:#|\/\/|\/\*+|<!--|--|;|"{3}|'{3})\s*orch:\s*protected\b/i.test(line));
}

/** One criterion for each row of Examples and Errors. The slice's tests are what checks them. */
export function acceptanceOf(
  specText: string,
): readonly { readonly id: string; readonly text: string; readonly check: string }[] {
  const spec = parseSpec(specText);
  const examples = specRows(spec, "Examples").map(({ cells }, at) => ({
    id: `example-${at + 1}`,
    text: `${plainCell(cells[0] ?? "")} -> ${plainCell(cells[1] ?? "")}`,
    check: "tests",
  }));
  const errors = specRows(spec, "Errors").map(({ cells }, at) => ({
    id: `error-${at + 1}`,
    text: `${plainCell(cells[0] ?? "")}: when ${plainCell(cells[1] ?? "")}, the caller gets ${plainCell(cells[2] ?? "")}`,
    check: "tests",
  }));
  return [...examples, ...errors].slice(0, maxAcceptance);
}

function goalOf({ feature, request }: FeatureWork, overview: string): string {
  const words = request.trim();
  return [
    `Implement ${feature.spec}, tests included.`,
    overview.trim(),
    ...(words === "" ? [] : [`The person adds: ${words}`]),
  ]
    .filter((part) => part !== "")
    .join("\n\n");
}

/** A folder's name in a glob: characters with a meaning in globs stand for themselves. */
function literal(path: string): string {
  return path.replace(/[\\*?[\]{}()!+@|^$]/g, "\\$&");
}
