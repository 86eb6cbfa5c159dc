/** Strings of code, each of its characters replaced: places stay. */
export function withoutStrings(code: string, by: string): string {
  return code.replace(/"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'|`(?:\\.|[^`\\])*`/g, (one) => by.repeat(one.length));
}

/**
 * A statement of a check without the values it compares a result with. The code under test says those because it has to
 * (`raise ValueError("...")`), and asks nobody for them.
 */
export function withoutExpected(text: string): string {
  const muted = withoutStrings(text, mute);
  const cuts = [...comparedIn(muted), ...assertedIn(muted)];
  let out = text;
  for (const [from, end] of cuts) out = out.slice(0, from) + " ".repeat(end - from) + out.slice(end);
  return out;
}

type Range = readonly [from: number, end: number];

/** Stands for each character of a string. */
const mute = "\u0001";

function comparedIn(muted: string): readonly Range[] {
  const before = new RegExp(`(?:${mute}+|(?<![\\w.])\\d[\\d.]*)(?=\\s*[=!]==?|\\s+(?:not\\s+)?in\\b)`, "g");
  const told = /\b(?:throws|rejects)\b/.test(muted) ? "message\\s*:" : "(?<=\\braises\\b.*)match\\s*=(?!=)";
  const after = new RegExp(`(?:[=!]==?|${told})\\s*`, "g");
  return [
    ...[...muted.matchAll(before)].map(({ index, 0: one }): Range => [index, index + one.length]),
    ...[...muted.matchAll(after)].map(({ index, 0: one }): Range => {
      const from = index + one.length;
      return [from, literalEnd(muted, from)];
    }),
  ];
}

/** Of an assertion's first two arguments, the one that is written out, where the other one is not. */
function assertedIn(muted: string): readonly Range[] {
  const calls = /\b(?:assert\w*|(?:not)?(?:deep)?(?:strict)?equal|to[A-Z]\w*)\(/gi;
  return [...muted.matchAll(calls)].flatMap(({ index, 0: call }) => {
    const [one, two] = argumentsFrom(muted, index + call.length);
    if (one === undefined) return [];
    const isSole = two === undefined && /^to[A-Z]/.test(call);
    const whole = [one, ...(two === undefined ? [] : [two])].filter(([from, end]) => literalEnd(muted, from) === end);
    return whole.length === 1 && (two !== undefined || isSole) ? whole : [];
  });
}

function argumentsFrom(muted: string, from: number): readonly Range[] {
  const found: Range[] = [];
  let [depth, start] = [0, from];
  for (let at = from; at <= muted.length; at += 1) {
    const char = muted[at] ?? ")";
    if (depth === 0 && /[,)\]}]/.test(char)) {
      if (muted.slice(start, at).trim() !== "") found.push([start, at]);
      start = at + 1;
      if (char !== ",") return found;
    } else if (/[[({]/.test(char)) depth += 1;
    else if (/[\])}]/.test(char)) depth -= 1;
  }
  return found;
}

/** Where what is only values and brackets around them ends; the start where brackets stay open. */
function literalEnd(muted: string, from: number): number {
  const part = new RegExp(
    `\\s+|[bruf]{0,2}${mute}+|-?\\d[\\w.]*|(?:True|False|None|true|false|null|undefined)\\b|[[({\\])},:]`,
    "iy",
  );
  let depth = 0;
  let at = from;
  while (at < muted.length) {
    part.lastIndex = at;
    const one = part.exec(muted)?.[0];
    if (one === undefined || (depth === 0 && /^[\])},:]/.test(one))) break;
    if (/^[[({]/.test(one)) depth += 1;
    if (/^[\])}]/.test(one)) depth -= 1;
    at += one.length;
  }
  return depth === 0 ? at : from;
}
