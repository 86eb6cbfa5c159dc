import { OrchError } from "../model/error.ts";

/** One thing a lead wants mended: where, what is wrong, and what done looks like. */
export interface ReviseItem {
  readonly number: number;
  readonly path: string;
  readonly line: number;
  readonly fault: string;
  readonly done: string;
}

/**
 * The file of `review --revise`: numbered items, each with file:line, the fault and what done looks like. An item may
 * run over several lines. What lacks a part is refused with its line: a worker cannot guess it.
 *
 * @throws OrchError `review.items`
 */
export function readReviseItems(text: string, file: string): readonly ReviseItem[] {
  const items: { readonly at: number; readonly number: number; text: string }[] = [];
  for (const [index, line] of text.split(/\r?\n/).entries()) {
    const [, number, rest] = /^\s{0,3}(\d+)[.)]\s+(.*)$/.exec(line) ?? [];
    const last = items.at(-1);
    if (number !== undefined) items.push({ at: index + 1, number: Number(number), text: rest ?? "" });
    else if (last !== undefined) last.text += `\n${line}`;
  }
  if (items.length === 0) throw refusal(file, 1, "it holds no numbered item");
  return items.map((item) => readItem(item, file));
}

function readItem(
  item: { readonly at: number; readonly number: number; readonly text: string },
  file: string,
): ReviseItem {
  const [, place, line, rest = ""] = /^\s*`?([^\s:`]+):(\d+)(?:-\d+)?`?\s*[:.,-]*\s*([\s\S]*)$/.exec(item.text) ?? [];
  if (place === undefined || line === undefined)
    throw refusal(file, item.at, `item ${item.number} does not begin with file:line`);
  const split = /(?:^|[\s.;(])done(?: looks like| when| means)?\s*:\s*/i.exec(rest);
  const fault = rest
    .slice(0, split?.index)
    .replace(/^fault\s*:\s*/i, "")
    .trim();
  const done = split === null ? "" : rest.slice(split.index + split[0].length).trim();
  if (fault === "") throw refusal(file, item.at, `item ${item.number} does not say what is wrong`);
  if (done === "") throw refusal(file, item.at, `item ${item.number} does not say what done looks like ("Done: ...")`);
  return { number: item.number, path: place, line: Number(line), fault: oneLine(fault), done: oneLine(done) };
}

/** What the worker is told: the items, and nothing that was not one. */
export function reviseText(items: readonly ReviseItem[], reviewer: string): string {
  const rows = items.map(
    ({ path, line, fault, done }, at) => `${at + 1}. ${path}:${line}\n   Fault: ${fault}\n   Done looks like: ${done}`,
  );
  return `A review by ${reviewer} sends the change back. Everything that is not named here is right: leave it alone.\n\n${rows.join("\n\n")}\n`;
}

function oneLine(text: string): string {
  return text.replace(/\s*\n\s*/g, " ").trim();
}

function refusal(file: string, line: number, why: string): OrchError {
  return new OrchError("review.items", `${file}:${line}: ${why}`, { data: { path: file, line } });
}
