import { linesOf } from "./lines.ts";

interface DiffLine {
  readonly sign: " " | "-" | "+";
  readonly text: string;
}

/**
 * The lines that differ, as `- old` and `+ new`, each change with up to `context` lines around it; `...` where lines
 * were left out. Empty for equal texts. Meant for people: line ends do not count.
 */
export function changedLines(before: string, after: string, context = 2): string[] {
  const lines = diffOf(linesOf(before), linesOf(after));
  const near = lines.map((_, at) =>
    lines.slice(Math.max(0, at - context), at + context + 1).some(({ sign }) => sign !== " "),
  );
  const shown: string[] = [];
  let last = -1;
  for (const [at, { sign, text }] of lines.entries()) {
    if (near[at] !== true) continue;
    if (at !== last + 1) shown.push("...");
    shown.push(`${sign} ${text}`.trimEnd());
    last = at;
  }
  return shown;
}

/** A longest common subsequence keeps its lines; the common start and end are taken off first. */
function diffOf(a: readonly string[], b: readonly string[]): readonly DiffLine[] {
  let start = 0;
  while (start < a.length && start < b.length && a[start] === b[start]) start += 1;
  let end = 0;
  while (end < a.length - start && end < b.length - start && a[a.length - 1 - end] === b[b.length - 1 - end]) end += 1;
  const same = (lines: readonly string[]): DiffLine[] => lines.map((text) => ({ sign: " ", text }));
  return [
    ...same(a.slice(0, start)),
    ...middle(a.slice(start, a.length - end), b.slice(start, b.length - end)),
    ...same(a.slice(a.length - end)),
  ];
}

/** Cells of the table that a text may cost; a larger change is shown as all old, then all new. */
const maxCells = 4_000_000;

function middle(a: readonly string[], b: readonly string[]): readonly DiffLine[] {
  const out: DiffLine[] = [];
  const width = b.length + 1;
  const whole = (a.length + 1) * width > maxCells;
  const table = new Uint32Array(whole ? 0 : (a.length + 1) * width);
  for (let i = a.length - 1; i >= 0 && !whole; i -= 1) {
    for (let j = b.length - 1; j >= 0; j -= 1) {
      table[i * width + j] =
        a[i] === b[j]
          ? (table[(i + 1) * width + j + 1] ?? 0) + 1
          : Math.max(table[(i + 1) * width + j] ?? 0, table[i * width + j + 1] ?? 0);
    }
  }
  let [i, j] = [0, 0];
  while (i < a.length || j < b.length) {
    if (i < a.length && j < b.length && a[i] === b[j]) {
      out.push({ sign: " ", text: a[i] ?? "" });
      i += 1;
      j += 1;
    } else if (
      j >= b.length ||
      (i < a.length && (table[(i + 1) * width + j] ?? 0) >= (table[i * width + j + 1] ?? 0))
    ) {
      out.push({ sign: "-", text: a[i] ?? "" });
      i += 1;
    } else {
      out.push({ sign: "+", text: b[j] ?? "" });
      j += 1;
    }
  }
  return out;
}
