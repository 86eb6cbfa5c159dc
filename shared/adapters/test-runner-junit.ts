import { XMLParser } from "fast-xml-parser";
import { linesOf, stripControls } from "../base/lines.ts";
import type { TestCase, TestCounts } from "../ports/test-runner.ts";

/** JUnit XML as test programs write it. The file comes from generated code's process, so it is read as data with limits. */
const maxReportChars = 20_000_000;
const maxOutputChars = 20_000;
const maxMessageChars = 500;
const maxTests = 20_000;

/** The test cases, or undefined when the text is no readable report (torn, no suite, entities of its own). */
export function parseJunit(xml: string, root: string): readonly TestCase[] | undefined {
  if (
    xml.length > maxReportChars ||
    /<!(?:DOCTYPE|ENTITY)/i.test(xml) ||
    !/<\/testsuites?>\s*$|<testsuites?\b[^>]*\/>\s*$/.test(xml)
  )
    return undefined;
  let tree: unknown;
  try {
    tree = new XMLParser({
      ignoreAttributes: false,
      attributeNamePrefix: "@",
      parseAttributeValue: false,
      parseTagValue: false,
      trimValues: false,
      processEntities: true,
      htmlEntities: true,
    }).parse(xml, true);
  } catch {
    return undefined;
  }
  const cases: Node[] = [];
  collect(tree, cases, 0);
  return cases
    .filter((node) => !isFileItself(node))
    .slice(0, maxTests)
    .map((node) => testCase(node, root.replaceAll("\\", "/")));
}

export function countTests(tests: readonly TestCase[]): TestCounts {
  const of = (outcome: TestCase["outcome"]): number => tests.filter((test) => test.outcome === outcome).length;
  return { passed: of("passed"), failed: of("failed"), errors: of("error"), skipped: of("skipped") };
}

type Node = Readonly<Record<string, unknown>>;

function collect(value: unknown, into: Node[], depth: number): void {
  if (depth > 20) return;
  for (const node of nodes(value)) {
    into.push(...nodes(node["testcase"]));
    for (const key of ["testsuites", "testsuite"]) collect(node[key], into, depth + 1);
  }
}

/** Node counts a file without a single test as a test of the file's name that passed. It is none. */
function isFileItself(node: Node): boolean {
  const name = attribute(node, "name") ?? "";
  const file = attribute(node, "file")?.replaceAll("\\", "/") ?? "";
  const red = ["error", "failure", "skipped"].some((tag) => node[tag] !== undefined);
  return !red && name !== "" && (file === name || file.endsWith(`/${name.replaceAll("\\", "/")}`));
}

function testCase(node: Node, root: string): TestCase {
  const told = relative(attribute(node, "file"), root);
  const [kind, outcome] = (
    [
      ["error", "error"],
      ["failure", "failed"],
      ["skipped", "skipped"],
    ] as const
  ).find(([tag]) => node[tag] !== undefined) ?? [undefined, "passed" as const];
  const details = kind === undefined ? [] : nodes(node[kind]);
  const text = details.map(bodyOf).join("\n");
  const captured = ["system-out", "system-err"]
    .flatMap((tag) => nodes(node[tag]).map(bodyOf).map(withoutEmptyCaptures))
    .filter((part) => part.trim() !== "");
  const frame = scriptFrame(text, told, root);
  const file = told ?? frame?.file;
  const line = frame?.line ?? lineOf(text, file, attribute(node, "line"));
  const at = file === undefined ? {} : { file };
  return {
    name: nameOf(node, file),
    ...at,
    ...(line === undefined ? {} : { line }),
    outcome,
    message: kind === undefined ? "" : messageOf(details, text),
    output: outcome === "passed" ? "" : clean([text, ...captured].join("\n").trim(), maxOutputChars),
    durationMs: Math.round(Number(attribute(node, "time") ?? "0") * 1000) || 0,
  };
}

/** pytest writes a heading for each stream, also for those that nothing was written to. */
function withoutEmptyCaptures(text: string): string {
  const kept: string[] = [];
  let heading: string | undefined;
  for (const line of linesOf(text)) {
    if (/^-+ Captured [A-Za-z]+ -+$/.test(line)) heading = line;
    else if (heading === undefined) kept.push(line);
    else if (line.trim() !== "") {
      kept.push(heading, line);
      heading = undefined;
    }
  }
  return kept.join("\n");
}

/** `features.Billing.Invoice.Tests.TestTotal` + `test_a` in `features/Billing/Invoice/Tests.py` -> `TestTotal::test_a`. */
function nameOf(node: Node, file: string | undefined): string {
  const name = attribute(node, "name") ?? "";
  const owner = attribute(node, "classname") ?? "";
  // What Node says of a test outside of every suite.
  if (owner === "test") return clean(name, maxMessageChars);
  const module = file?.replace(/\.[^./]+$/, "").replaceAll("/", ".");
  if (owner === "" && module !== undefined && (name === module || name === file))
    return file?.slice(file.lastIndexOf("/") + 1) ?? name;
  const inner =
    module === undefined
      ? owner
      : owner === module
        ? ""
        : owner.startsWith(`${module}.`)
          ? owner.slice(module.length + 1)
          : owner;
  return clean(inner === "" ? name : `${inner.replaceAll(".", "::")}::${name}`, maxMessageChars);
}

function messageOf(details: readonly Node[], text: string): string {
  const told = details.map((detail) => attribute(detail, "message") ?? "").find((message) => message !== "") ?? "";
  const skipped = /'Skipped: (.*)'\)\s*$/s.exec(text)?.[1];
  if (skipped !== undefined) return clean(firstLine(skipped), maxMessageChars);
  const marked = linesOf(text).flatMap((line) => (/^E {3}/.test(line) ? [line.slice(4).trim()] : []));
  const raised =
    marked.findLast((line) => /^[\w.]*(?:Error|Exception|Exit|Interrupt|Warning)\b/.test(line)) ?? marked[0];
  const vague = told === "" || told === "collection failure" || told === "collection skipped";
  return clean(firstWords(vague ? (raised ?? told) : told), maxMessageChars);
}

/** The first line; one that ends with a colon says nothing without what follows, of a comparison what differs. */
function firstWords(text: string): string {
  const [first = "", ...rest] = linesOf(text.trim()).filter((line) => line.trim() !== "");
  if (!first.trim().endsWith(":")) return first.trim();
  const isComparison = rest[0]?.trim() === "+ actual - expected";
  const differs = ["+ ", "- "].flatMap((sign) => rest.slice(1).find((line) => line.startsWith(sign)) ?? []);
  const next = isComparison && differs.length > 0 ? differs : rest.slice(0, 1);
  return [first, ...next]
    .map((line) => line.trim().replace(/\s+/g, " ").replace(/,$/, ""))
    .join(" ")
    .trim();
}

/**
 * The innermost frame of a JavaScript stack that lies in the test's file, or in the tree when the report names none:
 * `at name (file:///home/a%20b/Tests.ts:3:7)`. The cause says where it was, the error around it only who ran the test.
 */
function scriptFrame(
  text: string,
  told: string | undefined,
  root: string,
): { readonly file: string; readonly line: number } | undefined {
  const cause = text.slice(Math.max(0, text.indexOf("\n  cause: ")));
  for (const [, url, place = "", line] of cause.matchAll(
    /^\s+at (?:[^\n]*\()?(file:\/\/)?(\/[^\n]*?):(\d+):\d+\)?$/gm,
  )) {
    const path = url === undefined ? place : decoded(place);
    const file = relative(/^\/[A-Za-z]:\//.test(path) ? path.slice(1) : path, root);
    if (file === undefined || file.startsWith("/") || /(?:^|\/)node_modules\//.test(file)) continue;
    if (told === undefined || told === file) return { file, line: Number(line) };
  }
  return undefined;
}

function decoded(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}

/** pytest's frames are `path:line: what`; the last one in the test's own file is where it failed. */
function lineOf(text: string, file: string | undefined, stands: string | undefined): number | undefined {
  if (file !== undefined) {
    const frames = [...text.matchAll(/^(?:E {3}\s*)?(?:File ")?([^\s"][^"\n]*?)(?:", line |:)(\d+)(?:: |,|$)/gm)];
    const own = frames.filter(([, path]) => path?.replaceAll("\\", "/").endsWith(file)).at(-1);
    if (own?.[2] !== undefined) return Number(own[2]);
  }
  // xunit1 counts from 0
  return stands === undefined || !/^\d+$/.test(stands) ? undefined : Number(stands) + 1;
}

function relative(file: string | undefined, root: string): string | undefined {
  if (file === undefined || file === "") return undefined;
  const path = file.replaceAll("\\", "/");
  return path.startsWith(`${root}/`) ? path.slice(root.length + 1) : path;
}

function nodes(value: unknown): readonly Node[] {
  if (value === undefined) return [];
  return (Array.isArray(value) ? value : [value]).map((one): Node =>
    typeof one === "object" && one !== null ? (one as Node) : { "#text": one },
  );
}

function attribute(node: Node, name: string): string | undefined {
  const value = node[`@${name}`];
  return typeof value === "string" ? value : undefined;
}

function bodyOf(node: Node): string {
  const text = node["#text"];
  return typeof text === "string" ? text : "";
}

const firstLine = (text: string): string => text.split("\n", 1)[0] ?? "";

/** The end of a traceback says more than its middle: the head is what is cut. */
function clean(text: string, max: number): string {
  const plain = stripControls(text.replaceAll(/#x1B\[[0-9;]*m/g, ""));
  return plain.length <= max
    ? plain
    : `[... ${plain.length - max} characters cut ...]\n${plain.slice(plain.length - max)}`;
}
