import { globMatcher } from "../../base/paths.ts";
import type { Contract } from "../../model/contract.ts";
import type { Finding } from "../../model/finding.ts";
import { at, type LintFacts, type LintSubject } from "./lint-subject.ts";
import { concrete, elsewhere, placeholder, vague } from "./lint-words.ts";

interface Text {
  readonly keys: readonly (string | number)[];
  readonly text: string;
}

/** What a worker is told in words: all it knows. */
export function textLints(subject: LintSubject, facts: LintFacts): Finding[] {
  const texts = textsOf(subject.contract);
  return [
    ...stringsOf(subject.contract, []).flatMap((one) => unfilled(subject, one)),
    ...texts.flatMap((one) => pointsElsewhere(subject, one)),
    ...texts.flatMap((one) => missingPaths(subject, one, facts)),
    ...patternLints(subject, facts),
    ...ruleLints(subject),
    ...uiLints(subject),
  ];
}

/** Facts that a field's own lint needs and the worker's words name: `texts` of these are looked up before. */
export function referredPaths({ pattern_refs: refs }: Contract): string[] {
  return refs.map((ref) => placeOf(ref).path);
}

function textsOf(contract: Contract): Text[] {
  const lists = ["non_goals", "risks", "approach", "rules"] as const;
  return [
    ...(["title", "goal", "pseudo"] as const).flatMap((key) =>
      contract[key] === undefined ? [] : [{ keys: [key], text: contract[key] }],
    ),
    ...lists.flatMap((key) => contract[key].map((text, index) => ({ keys: [key, index], text }))),
    ...contract.acceptance.map(({ text }, index) => ({ keys: ["acceptance", index, "text"], text })),
    ...contract.examples.flatMap(({ input, expected }, index) => [
      { keys: ["examples", index, "input"], text: input },
      { keys: ["examples", index, "expected"], text: expected },
    ]),
  ];
}

/** Every text of the contract, those that no worker reads too. */
function stringsOf(value: unknown, keys: readonly (string | number)[]): Text[] {
  if (typeof value === "string") return [{ keys, text: value }];
  if (typeof value !== "object" || value === null) return [];
  const entries: [string | number, unknown][] = Array.isArray(value) ? [...value.entries()] : Object.entries(value);
  return entries.flatMap(([key, inner]) => stringsOf(inner, [...keys, key]));
}

function unfilled(subject: LintSubject, { keys, text }: Text): Finding[] {
  if (!placeholder.test(text.trim())) return [];
  return [
    at(subject, keys, "unfilled", "FAIL", `${keys.join(".")} is as the template left it: ${text}`, {
      remedy: "Write what is meant, or take the field out",
    }),
  ];
}

function pointsElsewhere(subject: LintSubject, { keys, text }: Text): Finding[] {
  // An example's data may be an address or any other words.
  if (keys[0] === "examples") return [];
  const hit = elsewhere.map((pattern) => pattern.exec(text)?.[0]).find((found) => found !== undefined);
  if (hit === undefined) return [];
  return [
    at(subject, keys, "reference-elsewhere", "WARN", `"${hit.trim()}" points to what the contract does not hold`, {
      evidence: text,
      remedy: "Write it out: a worker sees this contract and the repository, nothing else",
    }),
  ];
}

/** Words that look like files of the repository. A name alone is one only in backticks. */
function pathsIn(text: string): string[] {
  const bare = text.match(/(?<![\w:/@.~-])(?:[\w.-]+\/)+[\w-]+\.[A-Za-z][A-Za-z0-9]{0,5}\b(?![/(])/g) ?? [];
  const ticked = [
    ...text.matchAll(
      /`((?:[\w.-]+\/)*[\w-]+\.(?:py|[cm]?[jt]sx?|go|rs|java|kt|rb|json|ya?ml|toml|md|css|html|sql|sh))`/g,
    ),
  ];
  return [...new Set([...bare, ...ticked.map(([, path = ""]) => path)])].map((path) => path.replace(/^\.\//, ""));
}

function missingPaths(subject: LintSubject, { keys, text }: Text, facts: LintFacts): Finding[] {
  if (keys[0] === "examples") return [];
  const { contract } = subject;
  const comes = globMatcher([...contract.allowed, ...contract.hidden_files.map(({ to }) => to)]);
  const carried = globMatcher(contract.include_untracked);
  return pathsIn(text).flatMap((path) => {
    const ends = (file: string): boolean => file === path || file.endsWith(`/${path}`);
    if (facts.tracked.some(ends) || comes(path) || contract.allowed.some(ends)) return [];
    const lying = facts.untracked.find(ends);
    if (lying !== undefined && carried(lying)) return [];
    return [
      at(
        subject,
        keys,
        "reference-missing",
        "WARN",
        lying === undefined
          ? `${path} is not in the repository`
          : `${path} is untracked, so the worker does not see it`,
        {
          evidence: text,
          remedy:
            lying === undefined
              ? "Mend the path, or say that it is to be made and allow it"
              : `Add it to include_untracked, or commit it`,
        },
      ),
    ];
  });
}

function placeOf(ref: string): { readonly path: string; readonly to?: number } {
  const [, path = ref, from, to] = /^(.*?)(?::(\d+)(?:-(\d+))?)?$/.exec(ref) ?? [];
  const last = to ?? from;
  return { path, ...(last === undefined ? {} : { to: Number(last) }) };
}

function patternLints(subject: LintSubject, facts: LintFacts): Finding[] {
  return subject.contract.pattern_refs.flatMap((ref, index) => {
    const { path, to } = placeOf(ref);
    const keys = ["pattern_refs", index];
    const text = facts.tracked.includes(path) || facts.untracked.includes(path) ? facts.texts.get(path) : undefined;
    if (text === undefined)
      return [
        at(subject, keys, "reference-missing", "FAIL", `${path} is not in the repository`, {
          remedy: "Name a file that is there, as file:lines",
        }),
      ];
    const lines = text.split("\n").length - (text.endsWith("\n") ? 1 : 0);
    if (to === undefined || to <= lines) return [];
    return [
      at(subject, keys, "reference-missing", "FAIL", `${path} has ${lines} lines, and ${ref} names line ${to}`, {
        remedy: "Mend the lines: the file has changed",
      }),
    ];
  });
}

function ruleLints(subject: LintSubject): Finding[] {
  return subject.contract.rules.flatMap((rule, index) => {
    const hit = vague.map((pattern) => pattern.exec(rule)?.[0]).find((found) => found !== undefined);
    if (hit === undefined || concrete.some((pattern) => pattern.test(rule))) return [];
    return [
      at(subject, ["rules", index], "rule-vague", "WARN", `nothing shows whether "${hit}" was kept`, {
        evidence: rule,
        remedy: "Say what must be there or must not: a name, a number, a file; taste belongs into the review",
      }),
    ];
  });
}

function uiLints(subject: LintSubject): Finding[] {
  const { kind, mode, design_tokens: tokens } = subject.contract;
  if (kind !== "ui" || mode === "read_only") return [];
  if (tokens === undefined)
    return [
      at(
        subject,
        ["kind"],
        "ui-tokens",
        "WARN",
        "work of kind ui has no design_tokens, so any colour and size passes",
        {
          remedy: 'Add "design_tokens": {"allowed": [...], "forbidden": [...]}',
        },
      ),
    ];
  if (tokens.allowed.length > 0) return [];
  return [
    at(
      subject,
      ["design_tokens", "allowed"],
      "ui-tokens",
      "WARN",
      "design_tokens allows nothing, so every token is warned about",
      {
        remedy: "List the tokens of the design",
      },
    ),
  ];
}
