import { repoPath } from "../../base/paths.ts";
import type { Check, Contract } from "../../model/contract.ts";
import type { Finding } from "../../model/finding.ts";
import { at, type LintSubject } from "./lint-subject.ts";
import { launchers, wideTools } from "./lint-words.ts";

/** Acceptance, and what is run to show it. */
export function checkLints(subject: LintSubject): Finding[] {
  return [...acceptanceLints(subject), ...commandLints(subject)];
}

function acceptanceLints(subject: LintSubject): Finding[] {
  const { contract } = subject;
  const found: Finding[] = [];
  if (contract.acceptance.length === 0)
    found.push(
      at(subject, ["acceptance"], "acceptance-missing", "FAIL", "no criterion says when the work is done", {
        remedy: 'Add one: {"id": "a1", "text": "...", "check": "<name of a check>"}',
      }),
    );
  const names = new Set([...contract.checks, ...contract.hidden_checks].map(({ name }) => name));
  const seen = new Set<string>();
  contract.acceptance.forEach(({ id, check, judged }, index) => {
    const keys = ["acceptance", index];
    if (seen.has(id))
      found.push(
        at(subject, [...keys, "id"], "acceptance-twice", "FAIL", `two criteria are called ${id}`, {
          remedy: "Give each an id of its own",
        }),
      );
    seen.add(id);
    if (check === undefined && judged !== true)
      found.push(
        at(subject, keys, "acceptance-unmapped", "FAIL", `criterion ${id} names no check and is not marked judged`, {
          remedy: 'Add "check": "<name>", or "judged": true where only a reader can tell',
        }),
      );
    if (check !== undefined && !names.has(check))
      found.push(
        at(
          subject,
          [...keys, "check"],
          "acceptance-unmapped",
          "FAIL",
          `criterion ${id} names the check ${check}, which does not exist`,
          {
            remedy: names.size === 0 ? "Add the check to checks" : `Name one of ${[...names].join(", ")}`,
          },
        ),
      );
  });
  if (contract.mode === "edit" && contract.checks.length === 0)
    found.push(
      at(subject, ["checks"], "checks-missing", "WARN", "nothing is run to check the work", {
        remedy: "Name at least one cheap check of the files that change",
      }),
    );
  return found;
}

const lists = ["checks", "hidden_checks", "final_checks"] as const;

function commandLints(subject: LintSubject): Finding[] {
  const { contract } = subject;
  const found: Finding[] = [];
  for (const list of lists) {
    const names = new Set<string>();
    contract[list].forEach((check, index) => {
      const keys = [list, index];
      if (names.has(check.name))
        found.push(
          at(subject, [...keys, "name"], "check-twice", "FAIL", `two of ${list} are called ${check.name}`, {
            remedy: "Give each a name of its own",
          }),
        );
      names.add(check.name);
      if (check.cwd !== "." && check.cwd !== "" && repoPath(check.cwd) === undefined)
        found.push(
          at(
            subject,
            [...keys, "cwd"],
            "scope-outside",
            "FAIL",
            `the folder of ${check.name} leaves the repository: ${check.cwd}`,
            {
              remedy: "Name a folder inside it",
            },
          ),
        );
      const shell = check.argv.find((word) => /^(?:&&|\|\||[|;<>]|>>|2>&1|&)$/.test(word));
      if (shell !== undefined)
        found.push(
          at(
            subject,
            [...keys, "argv"],
            "check-shell",
            "FAIL",
            `${check.name} holds ${shell}, which no shell reads here`,
            {
              evidence: check.argv.join(" "),
              remedy: "Make it two checks, or a script of the repository",
            },
          ),
        );
      if (list === "checks" && isWide(check))
        found.push(
          at(subject, [...keys, "argv"], "check-wide", "WARN", `${check.name} looks at the whole project`, {
            evidence: check.argv.join(" "),
            remedy: "Name the files or the folder that change; the whole belongs into final_checks",
          }),
        );
    });
  }
  return found;
}

/** Whether nothing in the command says where to look. */
function isWide({ argv, cwd }: Check): boolean {
  if (cwd !== "." && cwd !== "") return false;
  const start = argv.findIndex((word) => !launchers.test(baseOf(word)));
  const program = baseOf(argv[start] ?? "");
  const rest = argv.slice(start + 1);
  const tool = wideTools.find(
    (one) => one.program.test(program) && (one.verb === undefined || one.verb.test(rest.join(" "))),
  );
  if (tool === undefined) return false;
  if (tool.narrows !== undefined && rest.some((word) => tool.narrows?.test(word) === true)) return false;
  return !rest.some(isPlace);
}

const baseOf = (word: string): string => word.slice(word.lastIndexOf("/") + 1).replace(/\.(?:exe|cmd|bat)$/i, "");

/** A word that names files: `tests/test_a.py`, `src/shop`; `.`, `./...` and `src/**` with nothing before it do not narrow. */
function isPlace(word: string): boolean {
  if (
    word.startsWith("-") ||
    /^(?:\.{1,2}\/?|\.\/\.\.\.|\*\*?.*|all|\{report\})$/.test(word) ||
    word.includes("{report}")
  )
    return false;
  return word.includes("/") || /\.[A-Za-z]{1,5}(?:::.*)?$/.test(word);
}

/** Minutes that the checks of one attempt may take at most. */
export function checkMinutes({ checks }: Contract): number {
  return checks.reduce((sum, { timeout_s: seconds }) => sum + seconds, 0) / 60;
}
