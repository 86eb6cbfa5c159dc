/** A file of a `git diff --binary` patch. Pure: the texts of both sides are made elsewhere. */
export interface PatchFile {
  /** undefined when that side does not exist. */
  readonly oldPath: string | undefined;
  readonly newPath: string | undefined;
  readonly binary: boolean;
  readonly hunks: readonly PatchHunk[];
}

export interface PatchHunk {
  /** 1-based line of the old text; 0 for an empty one. */
  readonly oldStart: number;
  readonly oldCount: number;
  /** Each with its leading ` `, `-`, `+`; a `\` line is folded into the one before as a missing line end. */
  readonly lines: readonly { readonly sign: " " | "-" | "+"; readonly text: string; readonly noEnd: boolean }[];
}

export function parsePatch(patch: string): readonly PatchFile[] {
  return patch
    .split(/^(?=diff --git )/m)
    .filter((part) => part.startsWith("diff --git "))
    .map(parseFile);
}

function parseFile(part: string): PatchFile {
  const lines = part.split("\n");
  const value = (prefix: string): string | undefined => {
    const line = lines.find((one) => one.startsWith(prefix));
    return line === undefined ? undefined : unquote(line.slice(prefix.length));
  };
  const [headOld, headNew] = headPaths(lines[0] ?? "");
  const isNew = value("new file mode ") !== undefined;
  const isGone = value("deleted file mode ") !== undefined;
  return {
    oldPath: isNew ? undefined : (value("rename from ") ?? value("copy from ") ?? headOld),
    newPath: isGone ? undefined : (value("rename to ") ?? value("copy to ") ?? headNew),
    binary: lines.some((line) => line === "GIT binary patch" || line.startsWith("Binary files ")),
    hunks: parseHunks(lines),
  };
}

/** `diff --git a/x b/y`: both are the same path but for renames, which have lines of their own. */
function headPaths(line: string): readonly [string, string] {
  const rest = line.slice("diff --git ".length);
  const quoted = /^("(?:\\.|[^"\\])*"|\S+) ("(?:\\.|[^"\\])*"|\S+)$/.exec(rest);
  if (quoted) return [strip(unquote(quoted[1] ?? "")), strip(unquote(quoted[2] ?? ""))];
  // Paths with spaces are not quoted: the line is `a/P b/P`.
  const half = rest.slice(2, (rest.length - 1) / 2);
  return [half, half];
}

function strip(text: string): string {
  return text.replace(/^[ab]\//, "");
}

/** Git's C style quotes: octal bytes and the usual escapes. */
function unquote(text: string): string {
  if (!text.startsWith('"')) return text;
  const bytes: number[] = [];
  const body = text.slice(1, -1);
  const names: Readonly<Record<string, number>> = { n: 10, t: 9, r: 13, a: 7, b: 8, f: 12, v: 11, '"': 34, "\\": 92 };
  for (let at = 0; at < body.length; at += 1) {
    const char = body[at] ?? "";
    if (char !== "\\") bytes.push(...new TextEncoder().encode(char));
    else {
      const octal = /^[0-7]{3}/.exec(body.slice(at + 1))?.[0];
      if (octal === undefined) bytes.push(names[body[at + 1] ?? ""] ?? 63);
      else bytes.push(Number.parseInt(octal, 8));
      at += octal === undefined ? 1 : 3;
    }
  }
  return new TextDecoder().decode(new Uint8Array(bytes));
}

function parseHunks(lines: readonly string[]): readonly PatchHunk[] {
  const hunks: {
    oldStart: number;
    oldCount: number;
    lines: { sign: " " | "-" | "+"; text: string; noEnd: boolean }[];
  }[] = [];
  let left = { old: 0, new: 0 };
  for (const line of lines) {
    const head = /^@@ -(\d+)(?:,(\d+))? \+\d+(?:,(\d+))? @@/.exec(line);
    const hunk = hunks.at(-1);
    if (left.old === 0 && left.new === 0 && head) {
      left = { old: Number(head[2] ?? 1), new: Number(head[3] ?? 1) };
      hunks.push({ oldStart: Number(head[1]), oldCount: left.old, lines: [] });
    } else if (line.startsWith("\\") && hunk !== undefined) {
      const last = hunk.lines.at(-1);
      if (last !== undefined) hunk.lines[hunk.lines.length - 1] = { ...last, noEnd: true };
    } else if (hunk !== undefined && (left.old > 0 || left.new > 0)) {
      const sign = line.startsWith("-") ? "-" : line.startsWith("+") ? "+" : " ";
      if (sign !== "+") left.old -= 1;
      if (sign !== "-") left.new -= 1;
      hunk.lines.push({ sign, text: line.slice(1), noEnd: false });
    }
  }
  return hunks;
}

/** The new text, or undefined when the hunks do not fit the old one. */
export function applyHunks(text: string, hunks: readonly PatchHunk[]): string | undefined {
  const old = text.split("\n");
  const endless = old.at(-1) !== "";
  if (!endless) old.pop();
  const out: string[] = [];
  let at = 0;
  // Whether the last line that went out has no line end.
  let noEnd = false;
  const copy = (to: number): void => {
    if (to <= at) return;
    out.push(...old.slice(at, to));
    noEnd = endless && to === old.length;
    at = to;
  };
  for (const hunk of hunks) {
    const start = hunk.oldCount === 0 ? hunk.oldStart : hunk.oldStart - 1;
    if (start < at || start > old.length) return undefined;
    copy(start);
    for (const line of hunk.lines) {
      if (line.sign !== "+") {
        if (old[at] !== line.text) return undefined;
        at += 1;
      }
      if (line.sign === "-") continue;
      out.push(line.text);
      noEnd = line.noEnd;
    }
  }
  copy(old.length);
  return out.length === 0 ? "" : out.join("\n") + (noEnd ? "" : "\n");
}

/** The same change the other way round. */
export function reversed(hunks: readonly PatchHunk[]): readonly PatchHunk[] {
  let shift = 0;
  return hunks.map((hunk) => {
    const added = hunk.lines.filter(({ sign }) => sign !== "-").length;
    const newStart = hunk.oldStart + shift + (hunk.oldCount === 0 ? 1 : 0) - (added === 0 ? 1 : 0);
    shift += added - hunk.oldCount;
    const lines = hunk.lines.map((line) => ({
      ...line,
      sign: line.sign === "+" ? ("-" as const) : line.sign === "-" ? ("+" as const) : line.sign,
    }));
    // Within a hunk, what goes comes before what is new.
    return { oldStart: newStart, oldCount: added, lines };
  });
}
