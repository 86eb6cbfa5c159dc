import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { isOrchError } from "../../../shared/model/error.ts";
import { sourceRoot } from "../../support/source-root.ts";
import { loadPersonas, personaNamed, readPersona } from "../../../shared/prompts/persona.ts";

const good = '---\nname: worker\nrole: worker\ndescription: "Does it"\nversion: 2\n---\n\nDo it well.\n';
const source = (
  text: string,
  at = "personas/worker.md",
  project = false,
): { path: string; text: string; project: boolean } => ({ path: at, text, project });
const installed = path.join(sourceRoot, "personas");

describe("persona", () => {
  it("head and body", () => {
    const { name, role, description, version, body } = readPersona(source(good));
    assert.deepEqual(
      { name, role, description, version, body },
      { name: "worker", role: "worker", description: "Does it", version: 2, body: "Do it well." },
    );
  });

  it("CRLF and a byte order mark", () =>
    assert.equal(readPersona(source(`\uFEFF${good.replaceAll("\n", "\r\n")}`)).body, "Do it well."));

  const bad: readonly [string, string, string][] = [
    ["no head", "Do it.", ":1: it does not begin"],
    ["an open head", "---\nname: a\n", ":1: its head does not end"],
    ["no pair", "---\nname: worker\nnonsense\n---\nx", ':3: not a "key: value" line'],
    ["a key twice", "---\nname: worker\nname: b\n---\nx", ":3: name stands twice"],
    ["an unknown role", good.replace("role: worker", "role: king"), ":3: role"],
    ["an unknown key", good.replace("version: 2", "version: 2\nmodel: x"), "nrecognized key"],
    ["no version", good.replace("version: 2\n", ""), "version"],
    ["no text", good.replace("Do it well.", ""), "it has no text after its head"],
  ];
  for (const [name, text, wanted] of bad) {
    it(`refuses ${name}, naming the place`, () =>
      assert.throws(
        () => readPersona(source(text)),
        (error) =>
          isOrchError(error, "persona.invalid") &&
          error.message.startsWith("personas/worker.md:") &&
          error.message.includes(wanted),
      ));
  }

  it("a project's file takes the place of the installed one, whatever the order", () => {
    const own = source(good.replace("Do it well.", "Our way."), ".orch/personas/worker.md", true);
    for (const sources of [
      [source(good), own],
      [own, source(good)],
    ]) {
      const personas = loadPersonas([
        ...sources,
        source("# Readme", "personas/README.md"),
        source("x", "personas/notes.txt"),
      ]);
      assert.deepEqual([[...personas.keys()], personaNamed(personas, "worker").body], [["worker"], "Our way."]);
    }
  });

  it("a missing one is refused with its name", () =>
    assert.throws(
      () => personaNamed(new Map(), "backend_agent"),
      (error) => isOrchError(error, "persona.invalid") && error.message.includes("backend_agent.md"),
    ));

  it("the installed personas load, are short, and the checklist has at most 150 lines", () => {
    const sources = fs
      .readdirSync(installed)
      .map((name) => source(fs.readFileSync(path.join(installed, name), "utf8"), `personas/${name}`));
    const personas = loadPersonas(sources);
    assert.deepEqual([...personas.keys()].toSorted(), [
      "backend_agent",
      "review-checklist",
      "reviewer",
      "spec_qa_agent",
      "worker",
    ]);
    for (const [name, persona] of personas) {
      assert.equal(persona.name, name);
      assert.ok(persona.body.split("\n").length <= (name === "review-checklist" ? 150 : 60), name);
    }
  });
});
