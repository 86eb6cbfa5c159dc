import { linesOf, stripControls } from "../base/lines.ts";
import type { Target } from "../model/target.ts";
import { filled } from "./scaffold.ts";
import { parseSpec, saysNone, specSection, specSections } from "./spec.ts";

const maxSpecChars = 200_000;

/** What the template's overview says when nobody said what the feature does. */
export function defaultOverview(target: Target): string {
  return `${target.name} is a feature of the domain ${target.domain}. Say here in a sentence what it does, then fill in the tables below.`;
}

/** spec.md without a model: the pack's template, with the person's own words as overview. */
export function specFromTemplate(template: string, target: Target, prompt: string): string {
  const words = cleanText(prompt).trim();
  const overview = words === "" ? defaultOverview(target) : contained(words);
  return filled(template, { feature: target.name, domain: target.domain, overview });
}

/**
 * The spec in a model's reply: thinking, remarks before the title and behind the end and a fence around it go, the title
 * becomes the feature's name. `known` is the text it was made from, whose lines are nobody's remarks. Undefined when there
 * is no spec in it.
 */
export function specFromReply(reply: string, target: Target, known = ""): string | undefined {
  if (reply.length > maxSpecChars) return undefined;
  const lines = linesOf(cleanText(reply).replace(/<think>[\s\S]*?<\/think>/g, ""));
  const start = lines.findIndex((line) => /^#\s+\S/.test(line));
  if (start === -1) return undefined;
  const body = withoutRemarks(lines.slice(start, endOf(lines, start)), known);
  const text = `${[`# ${target.name}`, ...body.slice(1)]
    .map((line) => line.trimEnd())
    .join("\n")
    .trimEnd()}\n`;
  return parseSpec(text).sections.length === 0 ? undefined : text;
}

/** What follows a `None.` of the last section says something about the spec: the section has ended with it. */
function withoutRemarks(lines: readonly string[], known: string): readonly string[] {
  const head = lines.findLastIndex((line) => /^##\s+\S/.test(line));
  if (!/^##\s+Dependencies\s*$/i.test(lines[head] ?? "")) return lines;
  const first = lines.findIndex((line, at) => at > head && line.trim() !== "");
  const rest = lines.slice(first + 1);
  const isRemark = (line: string): boolean =>
    !/^\s*(?:[+#|>]|[-*]\s|\d+[.)]\s|`{3}|~{3})/.test(line) && (line.trim() === "" || !known.includes(line.trim()));
  const ended = first !== -1 && saysNone(lines[first] ?? "") && rest[0]?.trim() === "" && rest.every(isRemark);
  return ended ? lines.slice(0, first + 1) : lines;
}

/** The spec with the sections it lacks, as the template has them, in the order of the format; `added` names them. */
export function withMissingSections(
  text: string,
  template: string,
  target: Target,
): { readonly text: string; readonly added: readonly string[] } {
  const spec = parseSpec(text);
  const added = specSections.filter((name) => specSection(spec, name) === undefined);
  if (added.length === 0) return { text, added };
  const from = parseSpec(specFromTemplate(template, target, ""));
  let lines = linesOf(text);
  for (const name of added.toReversed()) {
    const later = specSections.slice(specSections.indexOf(name) + 1);
    const now = parseSpec(lines.join("\n"));
    const next =
      later.flatMap((one) => specSection(now, one)?.line ?? [])[0] ?? now.amendments[0]?.line ?? lines.length + 1;
    lines = [
      ...lines.slice(0, next - 1),
      ...(next > lines.length ? [""] : []),
      `## ${name}`,
      "",
      specSection(from, name)?.body ?? "None.",
      "",
      ...lines.slice(next - 1),
    ];
  }
  return { text: `${lines.join("\n").trimEnd()}\n`, added };
}

/** A person's words inside a section: no heading of theirs opens one, no fence of theirs swallows the next. */
function contained(words: string): string {
  const open = openFence(linesOf(words));
  return `${words.replace(/^#{1,2}(?=\s)/gm, "###")}${open === undefined ? "" : `\n${open}`}`;
}

/** Line after the spec's last: the fence around it closes there, when there is one. */
function endOf(lines: readonly string[], start: number): number {
  const around = openFence(lines.slice(0, start));
  if (around === undefined) return lines.length;
  let inner: string | undefined;
  for (let at = start; at < lines.length; at += 1) {
    const mark = fenceOf(lines[at] ?? "");
    if (mark === undefined) continue;
    if (inner !== undefined) inner = mark.info === "" && mark.marks.startsWith(inner) ? undefined : inner;
    else if (mark.info === "" && mark.marks.startsWith(around)) return at;
    else inner = mark.marks;
  }
  return lines.length;
}

function openFence(lines: readonly string[]): string | undefined {
  let open: string | undefined;
  for (const line of lines) {
    const mark = fenceOf(line);
    if (mark === undefined) continue;
    if (open === undefined) open = mark.marks;
    else if (mark.info === "" && mark.marks.startsWith(open)) open = undefined;
  }
  return open;
}

function fenceOf(line: string): { readonly marks: string; readonly info: string } | undefined {
  const found = /^ {0,3}(`{3,}|~{3,})(.*)$/.exec(line);
  return found === null ? undefined : { marks: found[1] ?? "", info: (found[2] ?? "").trim() };
}

const cleanText = (text: string): string => stripControls(text.replaceAll("\r\n", "\n").replace(/^\uFEFF/, ""));
