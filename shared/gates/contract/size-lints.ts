import { hasWildcard } from "../../base/paths.ts";
import type { Finding } from "../../model/finding.ts";
import { checkMinutes } from "./check-lints.ts";
import { at, type LintFacts, type LintSubject } from "./lint-subject.ts";

/** The numbers of sizing, in one place. */
const sizes = {
  maxFiles: 3,
  /** "About 150 lines" ends here. */
  maxLines: 225,
  /** Many of these are better one. */
  tinyLines: 50,
  tinyContracts: 4,
  diffFloor: 2,
  diffCeiling: 3,
  /** Work of one pattern over many places is typed, not thought about. */
  bulkLines: 1000,
} as const;

const bulk = new Set(["mechanical"]);

/** Sizing and budgets of one contract. */
export function sizeLints(subject: LintSubject, facts: LintFacts): Finding[] {
  const { contract } = subject;
  if (contract.mode === "read_only") return limitLints(subject, facts);
  const found: Finding[] = [];
  const { estimate_lines: lines, max_diff_lines: most } = contract;
  const isBulk = bulk.has(contract.kind);
  const exact = contract.allowed.filter((glob) => !hasWildcard(glob));
  if (!isBulk && exact.length === contract.allowed.length && exact.length > sizes.maxFiles)
    found.push(
      at(
        subject,
        ["allowed", sizes.maxFiles],
        "size-files",
        "WARN",
        `${exact.length} files are many for one contract`,
        {
          remedy: `Cut it by files: 1 to ${sizes.maxFiles} each`,
        },
      ),
    );
  if (lines === undefined)
    found.push(
      at(
        subject,
        ["estimate_lines"],
        "budget-missing",
        "WARN",
        "estimate_lines is missing, so nothing tells whether it fits",
        {
          remedy: 'Add "estimate_lines": about how many lines outside of tests',
        },
      ),
    );
  else if (lines > (isBulk ? sizes.bulkLines : sizes.maxLines))
    found.push(
      at(
        subject,
        ["estimate_lines"],
        "size-lines",
        "WARN",
        `about ${lines} lines are more than one contract should hold`,
        {
          remedy: isBulk ? "Cut it in two" : "Cut it into contracts of about 150 lines",
        },
      ),
    );
  if (most === undefined)
    found.push(
      at(subject, ["max_diff_lines"], "budget-missing", "WARN", "max_diff_lines is missing, so no diff is too long", {
        remedy:
          lines === undefined ? "Add it: two to three times estimate_lines" : `Add "max_diff_lines": ${lines * 2.5}`,
      }),
    );
  else if (lines !== undefined && (most < lines * sizes.diffFloor || most > lines * sizes.diffCeiling))
    found.push(
      at(
        subject,
        ["max_diff_lines"],
        "budget-ratio",
        "WARN",
        `max_diff_lines ${most} is ${most < lines * sizes.diffFloor ? "under 2" : "over 3"} times estimate_lines ${lines}`,
        { remedy: `Between ${lines * sizes.diffFloor} and ${lines * sizes.diffCeiling}` },
      ),
    );
  return [...found, ...limitLints(subject, facts)];
}

function limitLints(subject: LintSubject, { limits }: LintFacts): Finding[] {
  const { contract } = subject;
  const found: Finding[] = [];
  const minutes = contract.max_minutes ?? limits.minutes;
  if (minutes === undefined)
    found.push(
      at(subject, ["max_minutes"], "budget-missing", "WARN", "max_minutes is missing, so a worker may go on for ever", {
        remedy: 'Add "max_minutes": 15',
      }),
    );
  else if (checkMinutes(contract) > minutes)
    found.push(
      at(
        subject,
        ["max_minutes"],
        "budget-checks",
        "WARN",
        `its checks alone may take ${Math.ceil(checkMinutes(contract))} minutes, and max_minutes is ${minutes}`,
        { remedy: "Raise max_minutes, or lower timeout_s of the checks" },
      ),
    );
  if (contract.max_cost_usd !== undefined && limits.usd !== undefined && contract.max_cost_usd > limits.usd)
    found.push(
      at(
        subject,
        ["max_cost_usd"],
        "budget-cost",
        "WARN",
        `max_cost_usd ${contract.max_cost_usd} is more than limits.usd ${limits.usd} allows a run`,
        {
          remedy: "Lower it, or raise limits.usd in config.json",
        },
      ),
    );
  return found;
}

/** Rather two or three larger contracts than many tiny ones: each costs a worktree, a prompt and a review. */
export function tinyLints(subjects: readonly LintSubject[]): Finding[] {
  const tiny = subjects.filter(
    ({ contract: { mode, estimate_lines: lines } }) =>
      mode === "edit" && lines !== undefined && lines < sizes.tinyLines,
  );
  const [first] = tiny;
  if (first === undefined || tiny.length < sizes.tinyContracts) return [];
  const names = tiny.map(({ contract }) => contract.id).join(", ");
  return [
    at(
      first,
      ["estimate_lines"],
      "size-tiny",
      "WARN",
      `${tiny.length} contracts are under ${sizes.tinyLines} lines: ${names}`,
      {
        remedy: "Join what belongs together: two or three larger ones cost less than many tiny ones",
      },
    ),
  ];
}
