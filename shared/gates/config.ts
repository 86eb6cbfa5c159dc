import { repoPath } from "../base/paths.ts";
import type { ChangedFile } from "../model/change.ts";
import type { Finding } from "../model/finding.ts";
import type { Gate, GateInput } from "../ports/gate.ts";
import { sidesOf } from "./base-text.ts";
import { type ConfigRule, configRules, dodges, runners } from "./config/config-rules.ts";
import { type Entry, entriesOf } from "./config/entries.ts";
import { finding, ran } from "./gate-finding.ts";

/**
 * Was the configuration of tests, linters and types made to say less? Parsed values of both sides are compared, also in
 * files that may be edited: permission to touch package.json is none to end its tests in `|| true`.
 */
export function createConfigGate(): Gate {
  return {
    id: "config",
    phase: "change",
    async run(input, signal) {
      const found: Finding[] = [];
      for (const file of input.change.files) {
        signal.throwIfAborted();
        found.push(...(await fileFindings(file, input)));
      }
      return ran(found);
    },
  };
}

const maxChars = 500_000;

async function fileFindings(file: ChangedFile, input: GateInput): Promise<Finding[]> {
  const { path, oldPath = path, binary, newMode } = file;
  if (binary || newMode === "000000" || !newMode.startsWith("100")) return [];
  const rules = configRules.filter(({ files }) => files.test(path));
  const lines = commandLines(file);
  if (rules.length === 0) return lines;
  const sides = await sidesOf(file, input, maxChars);
  const before = byPath(entriesOf(oldPath, sides.before ?? ""));
  const now = byPath(entriesOf(path, sides.now ?? ""));
  const found = [
    ...rules.flatMap((rule) => compared(rule, path, before, now)),
    ...lines,
    ...(await overriding(file, input)),
  ];
  const seen = new Set<string>();
  return found.filter(({ rule, line, side }) => {
    const place = `${rule} ${line} ${side}`;
    if (seen.has(place)) return false;
    seen.add(place);
    return true;
  });
}

type Entries = ReadonlyMap<string, readonly Entry[]>;

function byPath(entries: readonly Entry[]): Entries {
  return Map.groupBy(entries, ({ path }) => path);
}

function compared(row: ConfigRule, path: string, before: Entries, now: Entries): Finding[] {
  const found: Finding[] = [];
  const removable = row.how === "gone" || row.how === "off" || row.how === "milder" || row.how === "lower";
  for (const [name, entries] of now) {
    if (!row.path.test(name)) continue;
    const old = before.get(name) ?? [];
    for (const entry of entries) {
      const was = old.length === 1 && entries.length === 1 ? old[0] : old.find(({ value }) => value === entry.value);
      if (was?.value === entry.value && was.items.join() === entry.items.join()) continue;
      const others = old.flatMap(({ value }) => [value]);
      if (worse(row, was, entry, others)) found.push(told(row, path, entry, was));
    }
  }
  if (!removable) return found;
  for (const [name, [old]] of before) {
    if (old === undefined || now.has(name) || !row.path.test(name)) continue;
    // A whole file that went, or was rewritten for another tool, is told by its class.
    if (now.size > 0 && lostMeaning(row, old)) found.push(gone(row, path, old));
  }
  return found;
}

function worse(
  { how, value, unless }: ConfigRule,
  was: Entry | undefined,
  now: Entry,
  others: readonly string[],
): boolean {
  const fresh = now.items.filter((one) => was?.items.includes(one) !== true);
  switch (how) {
    case "is":
      return (
        value?.test(now.value) === true &&
        (was === undefined ? !others.some((one) => value.test(one)) : !value.test(was.value) || value.source === ".")
      );
    case "narrowed":
      return (
        was !== undefined &&
        (was.items.length > 1 || now.items.length > 0
          ? was.items.some((one) => !now.items.includes(one))
          : was.value !== now.value)
      );
    case "grew":
      return fresh.some((one) => (value === undefined || value.test(one)) && unless?.test(one) !== true);
    case "lower":
      return was !== undefined && numberOf(now.value) < numberOf(was.value);
    case "higher":
      return was === undefined ? false : numberOf(now.value) > numberOf(was.value);
    case "off":
      return was !== undefined && isOn(was.value) && isOff(now.value);
    case "on":
      return isOn(now.value) && (was === undefined || !isOn(was.value));
    case "milder":
      return was === undefined ? levelOf(now) === 0 : levelOf(now) < levelOf(was);
    case "gone":
      return false;
  }
}

function lostMeaning({ how }: ConfigRule, old: Entry): boolean {
  if (how === "off") return isOn(old.value);
  if (how === "milder") return levelOf(old) > 0;
  return true;
}

const numberOf = (text: string): number => Number(text.replaceAll("_", "").replace(/%$/, ""));
const isOn = (text: string): boolean => /^(?:true|True|1|yes|on)$/.test(text);
const isOff = (text: string): boolean => /^(?:false|False|0|no|off|none)$/.test(text);

/** How hard a linter takes a rule: 2 error, 1 warning, 0 nothing; a number of its own for what says neither. */
function levelOf({ value, items }: Entry): number {
  const word = (items[0] ?? value).replace(/["'[\]]/g, "").trim();
  if (/^(?:error|deny|forbid|2|on|true)$/.test(word)) return 2;
  if (/^(?:warn|warning|info|1)$/.test(word)) return 1;
  if (/^(?:off|allow|0|none|null|false)$/.test(word)) return 0;
  if (/\blevel\s*=\s*"?(?:deny|forbid)/.test(value)) return 2;
  if (/\blevel\s*=\s*"?warn/.test(value)) return 1;
  return /\blevel\s*=\s*"?allow/.test(value) ? 0 : 2;
}

const texts = {
  test_config_tamper: {
    message: "the configuration makes fewer tests run, or lets them fail",
    remedy: "Put the setting back; make the tests pass as they are",
    severity: "FAIL",
  },
  lint_config_relaxed: {
    message: "a check of the code was relaxed",
    remedy: "Put the setting back; mend what the tool names",
    severity: "FAIL",
  },
  timeout_raised: {
    message: "a limit of the tests was raised",
    remedy: "Make the code fast and steady enough for the limit that was there",
    severity: "WARN",
  },
} as const;

function told({ rule }: ConfigRule, path: string, now: Entry, was: Entry | undefined): Finding {
  const { message, remedy, severity } = texts[rule];
  const evidence = was === undefined ? `${now.path}: ${now.value}` : `${now.path}: ${was.value} -> ${now.value}`;
  return finding(rule, severity, message, { path, line: now.line, evidence, remedy });
}

function gone({ rule }: ConfigRule, path: string, { line, path: name, value }: Entry): Finding {
  const { message, remedy, severity } = texts[rule];
  return finding(rule, severity, message, {
    path,
    line,
    side: "old",
    evidence: `${name}: ${value} -> nothing`,
    remedy,
  });
}

/** A new file of settings takes the place of those that another file holds. */
async function overriding({ path, status }: ChangedFile, input: GateInput): Promise<Finding[]> {
  if (status !== "added" || !/^\.?pytest\.(?:ini|toml)$/.test(path)) return [];
  const held: readonly (readonly [string, RegExp])[] = [
    ["pyproject.toml", /^\[tool\.pytest/m],
    ["setup.cfg", /^\[tool:pytest\]/m],
    ["tox.ini", /^\[pytest\]/m],
  ];
  for (const [name, section] of held) {
    const at = repoPath(name);
    const bytes = at === undefined ? undefined : await input.readBase(at);
    if (bytes === undefined || !section.test(new TextDecoder().decode(bytes))) continue;
    return [
      finding("test_config_tamper", "FAIL", `${path} takes the place of the settings in ${name}`, {
        path,
        line: 1,
        evidence: path,
        remedy: `Change the settings in ${name}, if the goal asks for it`,
      }),
    ];
  }
  return [];
}

/** Scripts that start the tests: a line that runs them and does not mind the outcome. */
function commandLines({ path, hunks }: ChangedFile): Finding[] {
  if (
    !/\.(?:sh|bash|ps1|bat|cmd)$|(?:^|\/)(?:Dockerfile|[Jj]ustfile|Taskfile\.ya?ml|noxfile\.py|tox\.ini|Rakefile)$/.test(
      path,
    )
  )
    return [];
  return hunks.flatMap(({ added, removed, newStart }) =>
    added.flatMap((line, at) =>
      runners.test(line) && dodges.test(line) && !removed.some((old) => old.trim() === line.trim())
        ? [
            finding("test_config_tamper", "FAIL", texts.test_config_tamper.message, {
              path,
              line: newStart + at,
              evidence: line.trim(),
              remedy: texts.test_config_tamper.remedy,
            }),
          ]
        : [],
    ),
  );
}
