/** A mechanical mend of one finding: lines `from` (0-based, inclusive) to `to` (exclusive) become `lines`. */
export interface RuleFix {
  readonly from: number;
  readonly to: number;
  readonly lines: readonly string[];
}

type Mend = (lines: readonly string[], at: number, message: string) => RuleFix | undefined;

const replace =
  (pattern: RegExp, by: string): Mend =>
  (lines, at) => {
    const line = lines[at] ?? "";
    const mended = line.replace(pattern, by);
    return mended === line ? undefined : { from: at, to: at + 1, lines: [mended] };
  };

const drop: Mend = (_lines, at) => ({ from: at, to: at + 1, lines: [] });

/** Two blank lines before a top-level definition: what is missing is put in. */
const blankLines: Mend = (lines, at) => {
  let blank = 0;
  while (at - blank - 1 >= 0 && (lines[at - blank - 1] ?? "").trim() === "") blank += 1;
  return blank >= 2 ? undefined : { from: at, to: at, lines: Array.from({ length: 2 - blank }, () => "") };
};

const tooManyBlank: Mend = (lines, at) => {
  const keep = /^\s/.test(lines[at] ?? "") ? 1 : 2;
  let blank = 0;
  while (at - blank - 1 >= 0 && (lines[at - blank - 1] ?? "").trim() === "") blank += 1;
  return blank <= keep ? undefined : { from: at - blank, to: at - keep, lines: [] };
};

/** The last line of `lines` is what follows the last line end: empty when the file ends well. */
const endOfFile: Mend = (lines) => {
  let end = lines.length;
  while (end > 0 && (lines[end - 1] ?? "").trim() === "") end -= 1;
  const tail = lines.slice(end);
  return tail.length === 1 && tail[0] === "" ? undefined : { from: end, to: lines.length, lines: [""] };
};

/** `from x import a, b`: the unused name goes; the line goes with its last name. */
const unusedImport: Mend = (lines, at, message) => {
  const name = /^(\S+) is imported and not used/.exec(message)?.[1];
  const line = lines[at] ?? "";
  const parts = /^(\s*(?:from \S+ )?import )([\w.]+(?: as \w+)?(?:, *[\w.]+(?: as \w+)?)*)\s*$/.exec(line);
  if (name === undefined || parts === null) return undefined;
  const [, head = "", list = ""] = parts;
  const names = list.split(/, */);
  const kept = names.filter((one) => one !== name && !one.endsWith(` as ${name}`) && one.split(".")[0] !== name);
  if (kept.length === names.length) return undefined;
  return { from: at, to: at + 1, lines: kept.length === 0 ? [] : [`${head}${kept.join(", ")}`] };
};

const tabs: Mend = (lines, at) => {
  const line = lines[at] ?? "";
  const count = /^\t+/.exec(line)?.[0].length ?? 0;
  return count === 0 ? undefined : { from: at, to: at + 1, lines: [`${"    ".repeat(count)}${line.slice(count)}`] };
};

/** By rule id. Only what cannot change what the code means, but for what the rule says is wrong. */
const mends: Readonly<Record<string, Mend>> = {
  "pep8.W291": replace(/[ \t]+$/, ""),
  "pep8.W293": replace(/^[ \t]+$/, ""),
  "pep8.W191": tabs,
  "pep8.W292": endOfFile,
  "pep8.W391": endOfFile,
  "pep8.E302": blankLines,
  "pep8.E305": blankLines,
  "pep8.E303": tooManyBlank,
  "pep8.E703": replace(/;\s*$/, ""),
  "pep8.E711": (lines, at) =>
    replace(/== *None\b/, "is None")(lines, at, "") ?? replace(/!= *None\b/, "is not None")(lines, at, ""),
  "pep8.E713": replace(/\bnot ([\w.]+) in\b/, "$1 not in"),
  "pep8.E714": replace(/\bnot ([\w.]+) is\b/, "$1 is not"),
  "py.unused-import": unusedImport,
  "py.breakpoint": (lines, at) =>
    /^\s*(?:breakpoint\(\)|import pdb; *pdb\.set_trace\(\)|pdb\.set_trace\(\))\s*$/.test(lines[at] ?? "")
      ? drop(lines, at, "")
      : undefined,
  "py.raise-notimplemented": replace(/\bNotImplemented\b(?!Error)/, "NotImplementedError"),
};

/** The fix of a finding in this text, or undefined when the rule has none or the line does not look as it should. */
export function ruleFix(rule: string, text: string, line: number, message: string): RuleFix | undefined {
  const lines = text.split("\n");
  return mends[rule]?.(lines, line, message);
}

export function applyFix(text: string, { from, to, lines }: RuleFix): string {
  const all = text.split("\n");
  return [...all.slice(0, from), ...lines, ...all.slice(to)].join("\n");
}
