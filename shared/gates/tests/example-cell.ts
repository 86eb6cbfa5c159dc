/** What a cell of an example says of its result: that very value, or something about it. */

const amount = String.raw`\d+(?:[.,_]\d+)*`;
const words = [
  "about|around|approx(?:\\.|imately)?|roughly|nearly|almost|close to|circa|ca\\.",
  "at (?:least|most)|up to|minim(?:um|al)|maxim(?:um|al)|(?:min|max)\\.?(?=\\s*\\d)|no more|more|less|fewer|greater|smaller|larger|bigger|longer|shorter|higher|lower|earlier|later|newer|older|exceed(?:s|ing)?",
  "between|within|over|under|above|below|before|after|since|until|from",
  "any|some|not|never|or|other than|differs?|different|unique|random|chang(?:es|ed)",
].join("|");
const roomWord = new RegExp(`[<>\\u2264\\u2265\\u00B1~]|\\b(?:${words})(?![\\w-])`, "i");
const range = new RegExp(`${amount}\\s*(?:-|\\u2013|\\.\\.+|\\u2026|to)\\s*${amount}`);
/** The dashes of a date stand between no two ends. */
const date = /\d{4}-\d\d-\d\d/g;

/** Does the example itself accept several results? What it quotes is a result, whatever its words. */
export function leavesRoom(cell: string): boolean {
  const said = cell.replace(/"[^"\n]*"/g, '""');
  return roomWord.test(said) || range.test(said.replace(date, ""));
}

const value = new RegExp(
  `^(?:[-+]?\\s?(?:\\p{Sc}|[A-Z]{3}\\s)?\\s?[-+]?${amount}(?:e[+-]?\\d+)?|""|[A-Z]\\w*(?:Error|Exception)|true|false|none|null|[Tt]rue|[Ff]alse|None)(?:\\s?[^\\s\\d"]{1,12})?$`,
  "u",
);

/**
 * Nothing but values, each perhaps with a unit, and under a name that is told by `=`, `:`, or the Outputs. Everything else
 * is prose in some language, whose words may leave room.
 */
export function onlyValues(cell: string, names: readonly string[]): boolean {
  const plain = cell
    .replace(/[`*]/g, "")
    .replace(/"[^"\n]*"|(?<![\p{L}\p{N}])'[^'\n]*'/gu, '""')
    .replace(date, "0");
  const known = names.map((name) => name.replace(/[`*]/g, "").trim()).filter((name) => name !== "");
  const parts = plain.split(/[;{}[\]()]|,(?!\d{3}\b)|\s+and\s+/).map((part) => part.trim());
  return parts.filter((part) => part !== "").every((part) => isPlain(part, known));
}

function isPlain(part: string, known: readonly string[]): boolean {
  const told = /^[^=:]{1,40}(?:=>?|:|->|\u2192)\s*(.*)$/.exec(part)?.[1];
  if (told !== undefined) return told === "" || value.test(told) || /^[^\s\d]+$/.test(told);
  const name = known.find((one) => part.startsWith(`${one} `));
  return value.test(name === undefined ? part : part.slice(name.length + 1).trim());
}

/** The step that an example writes a number in: 0.1 for 36.7, 0.01 for 50.00. */
export function lastPlace(cell: string, result: string): number {
  const written = cell.match(/\d+(?:[_,]\d{3})*(?:\.\d+)?/g) ?? [];
  const own = written.filter((one) => String(Number(one.replace(/[_,]/g, ""))) === result);
  return Math.min(1, ...own.map((one) => 10 ** -(one.split(".")[1] ?? "").length));
}
