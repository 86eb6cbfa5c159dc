import { count } from "../../base/lines.ts";
import { repoPath } from "../../base/paths.ts";
import { runGate } from "../../engine/attempt.ts";
import type { ContractRow } from "../../events/contract-ledger.ts";
import { finalDue } from "../../events/final-due.ts";
import { findingText } from "../../events/words.ts";
import { restoresOf } from "../../gates/touched-files.ts";
import type { Change } from "../../model/change.ts";
import { type Check, Contract } from "../../model/contract.ts";
import { OrchError } from "../../model/error.ts";
import type { Finding } from "../../model/finding.ts";
import type { Handler } from "../context.ts";
import { contractAsRun, type Ledger, readLedger } from "../contract-rows.ts";
import type { WaveContext } from "../contract-wave.ts";
import { checkInput } from "../merge-contracts.ts";
import { requireTrust } from "../trust.ts";
import { personaNamed } from "../../prompts/persona.ts";

/** Its section of the checklist: what only shows when the parts are together. */
const wholeSection = "The whole, after merging";

/**
 * `final`: the project-wide checks of everything that was merged since the last green one, once, in the main tree; then
 * the combined diff with the checklist's items about the whole.
 */
export const final: Handler<WaveContext> = async (context, _args, signal) => {
  const ledger = await readLedger(context);
  const rows = await ofThisMachine(context, finalDue(ledger.rows, ledger.runs));
  if (rows.length === 0) throw new OrchError("review.nothing", "nothing was merged since the last final");
  await requireTrust(context, "the final checks run its code", signal);
  const contracts = (await Promise.all(rows.map((row) => contractAsRun(context, row)))).flatMap((one) => one ?? []);
  const change = await combined(context, ledger, rows);
  await context.sink.sidecar("combined.patch", change.patch);
  const told: { readonly name: string; readonly ok: boolean; readonly why?: string }[] = [];
  const findings: Finding[] = [];
  for (const check of distinct(contracts.flatMap(({ final_checks: some }) => some))) {
    const red = await runFinal(context, check, change, signal);
    findings.push(...red);
    told.push({ name: check.name, ok: red.length === 0, ...(red[0] === undefined ? {} : { why: red[0].message }) });
  }
  context.sink.append({ type: "final.checked", contracts: rows.map(({ id }) => id), checks: told });
  context.editor.showFindings(findings);
  await showCombined(context, change);
  const items = wholeItems(personaNamed(await context.personas(), "review-checklist").body);
  const red = told.filter(({ ok }) => !ok);
  const ids = rows.map(({ id }) => id).join(", ");
  const patch = `.orch/runs/${context.run}/combined.patch`;
  return {
    ok: red.length === 0,
    code: red.length === 0 ? 0 : 1,
    summary:
      red.length > 0
        ? `${count(red.length, "final check")} red after ${ids}: ${red[0]?.why ?? ""}`
        : `${ids}: ${told.length === 0 ? "no final checks are named" : `${count(told.length, "final check")} green`}, ${count(change.files.length, "file")} changed together`,
    next: [...restoresOf(findings), "git diff", "orch report"],
    data: {
      contracts: rows.map(({ id }) => id),
      checks: told,
      findings,
      patch,
      checklist: items,
      text: [
        ...told.map(({ name, ok, why }) => `  ${name}: ${ok ? "green" : (why ?? "red")}`),
        ...findings.map((finding) => `  ${findingText(finding)}`),
        `  combined diff: ${patch}`,
        ...items.map((item) => `  ${item}`),
      ],
    },
  };
};

/** A repository can ship run folders, and with them commands; the kept results of Orch's own runs no clone brings. */
async function ofThisMachine({ kept }: WaveContext, rows: readonly ContractRow[]): Promise<readonly ContractRow[]> {
  const own: ContractRow[] = [];
  for (const row of rows) if ((await kept.find(row.run, row.id)) !== undefined) own.push(row);
  return own;
}

/** The same command twice is run once. */
function distinct(checks: readonly Check[]): readonly Check[] {
  const seen = new Map(checks.map((check) => [JSON.stringify([check.argv, check.cwd]), check]));
  return [...seen.values()];
}

async function runFinal(
  context: WaveContext,
  check: Check,
  change: Change,
  signal: AbortSignal,
): Promise<readonly Finding[]> {
  const { gates } = await context.projectGates();
  const gate = gates.find(({ id }) => id === "checks");
  if (gate === undefined) throw new TypeError("there is a gate that runs checks");
  const contract = Contract.parse({
    id: "final",
    title: check.name,
    goal: check.name,
    allowed: ["**"],
    checks: [check],
  });
  const { result } = await runGate(gate, checkInput(context, contract, change, "final"), context.clock, signal);
  if (result.kind === "broken") throw result.error;
  return result.kind === "ran" ? result.findings.filter(({ severity }) => severity === "FAIL") : [];
}

/** Everything that the merged contracts changed, as it lies in the tree now. */
async function combined(context: WaveContext, { runs }: Ledger, rows: readonly ContractRow[]): Promise<Change> {
  const merges = runs.flatMap(({ contracts }) =>
    contracts.flatMap(({ id, merged }) => (merged ? [{ id, ...merged }] : [])),
  );
  const paths = rows
    .flatMap((row) => merges.filter(({ id, work }) => id === row.id && work === row.run))
    .flatMap(({ paths: some }) => some)
    .flatMap((path) => repoPath(path) ?? []);
  const head = await context.git.head();
  if (head.kind === "unborn") throw new OrchError("tree.unborn", "there is no commit to compare with");
  return await context.git.diff(head.commit, await context.git.snapshot([...new Set(paths)]));
}

const maxShown = 40;

async function showCombined({ git, editor }: WaveContext, change: Change): Promise<void> {
  for (const { path, oldPath, binary } of change.files.slice(0, maxShown)) {
    if (binary) continue;
    const before = repoPath(oldPath ?? path);
    const now = repoPath(path);
    const left = before === undefined ? undefined : await git.fileAt(change.base, before);
    const right = now === undefined ? undefined : await git.fileAt(change.tree, now);
    const text = (bytes: Uint8Array | undefined): string =>
      bytes === undefined ? "" : new TextDecoder().decode(bytes);
    await editor.showDiff({ title: `merged: ${path}`, path, left: text(left), right: text(right) });
  }
}

function wholeItems(checklist: string): readonly string[] {
  const [, section = ""] = checklist.split(new RegExp(`^## ${wholeSection}$`, "m"));
  return (section.split(/^## /m)[0] ?? "").split("\n").filter((line) => line.startsWith("- [ ] "));
}
