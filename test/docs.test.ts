// The pages that people read: links lead somewhere, examples are what the code takes, every command is explained.
import { deepEqual, equal } from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { XMLValidator } from "fast-xml-parser";
import { parse } from "jsonc-parser";
import { commandTable } from "../shared/app/commands.ts";
import { Config } from "../shared/model/config.ts";
import { loadRules } from "../shared/rulebook/load.ts";
import { sourceRoot } from "./support/source-root.ts";

const pages = ["README.md", "SECURITY.md", "AGENTS.md", ...below("docs"), ...below("rules"), ...below("personas")];

function below(folder: string): string[] {
  return fs
    .readdirSync(path.join(sourceRoot, folder), { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".md") && !name.split(path.sep).includes("templates"))
    .map((name) => `${folder}/${name.split(path.sep).join("/")}`);
}

const read = (page: string): string => fs.readFileSync(path.join(sourceRoot, page), "utf8");

/** Without what stands in code: `[x](y)` there is no link. */
const prose = (text: string): string => text.replace(/^```[\s\S]*?^```/gm, "").replace(/`[^`\n]*`/g, "");

function headings(text: string): Set<string> {
  return new Set(
    [...prose(text).matchAll(/^#+ (.+)$/gm)].map(([, title = ""]) =>
      title
        .toLowerCase()
        .replace(/[^\p{L}\p{N} _-]/gu, "")
        .replaceAll(" ", "-"),
    ),
  );
}

function brokenLinks(page: string, text = read(page)): string[] {
  return [...prose(text).matchAll(/\]\(([^)\s]+)\)|\bsrc(?:set)?="([^"]+)"/g)].flatMap(([, link, source]) => {
    const target = link ?? source ?? "";
    if (/^[a-z]+:/.test(target)) return [];
    const [file = "", anchor] = target.split("#");
    const at = file === "" ? page : path.posix.join(path.posix.dirname(page), file);
    if (!fs.existsSync(path.join(sourceRoot, at))) return [`${page} -> ${target}: is not there`];
    if (anchor !== undefined && !headings(read(at)).has(anchor)) return [`${page} -> ${target}: no such heading`];
    return [];
  });
}

function blocks(page: string, language: RegExp): string[] {
  return [...read(page).matchAll(/^```(\S*)\n([\s\S]*?)^```/gm)].flatMap(([, named = "", text = ""]) =>
    language.test(named) ? [text] : [],
  );
}

describe("documentation", () => {
  for (const page of pages) it(`${page} has no dead link`, () => deepEqual(brokenLinks(page), []));

  it("explains every command", () => {
    const silent = commandTable.filter(({ name }) => !/^## Notes\n\n\S/m.test(read(`docs/commands/${name}.md`)));
    deepEqual(
      silent.map(({ name }) => name),
      [],
    );
  });

  it("promises to restore what is stored, and nothing else", () => {
    const dangerous = commandTable.filter(({ danger }) => danger !== undefined).map(({ name }) => name);
    const storing = dangerous.filter((name) => read(`docs/commands/${name}.md`).includes("What goes is stored first"));
    deepEqual([storing, dangerous.filter((name) => !storing.includes(name))], [["delete", "undo", "clean"], ["merge"]]);
    equal(/anything Orch ever removed/.test(read("README.md")), false);
  });

  it("settings in examples are settings that can be written", () => {
    const examples = ["README.md", "docs/models.md", "docs/rules.md"].flatMap((page) => blocks(page, /^jsonc$/));
    equal(examples.length >= 3, true);
    for (const example of examples) Config.parse(parse(example));
  });

  it("the rule of the example is one, and finds what it says", () => {
    const [text = ""] = blocks("docs/rules.md", /^json$/);
    const book = loadRules({ sources: [{ path: "shop.json", text, project: true }], switches: {} });
    deepEqual(book.broken, []);
    const rows = book.sets.flatMap(({ rules }) => rules.flatMap(({ rows: patterns }) => patterns));
    deepEqual(
      rows.map(({ regex }) => "total_cents: float = 0.1".match(regex)?.length),
      [1],
    );
  });

  it("the picture is a recording that says what it is, and loads nothing", () => {
    const text = read("docs/media/flow.svg");
    equal(XMLValidator.validate(text), true);
    const words = ["orch demo", "scripted", "verdict: fail", "verdict: pass", "Timeline", "prefers-color-scheme: dark"];
    deepEqual(
      words.filter((one) => !text.includes(one)),
      [],
    );
    equal(/<script|<image|href=|url\(|@import/i.test(text), false);
  });

  it("would notice a dead link", () => {
    deepEqual(brokenLinks("docs/x.md", "[a](nowhere.md), [b](models.md#nope), [c](models.md#what-is-sent)"), [
      "docs/x.md -> nowhere.md: is not there",
      "docs/x.md -> models.md#nope: no such heading",
    ]);
  });
});
