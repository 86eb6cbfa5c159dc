import assert from "node:assert/strict";
import { composeFor } from "../../../shared/app/contract-compose.ts";
import { absPath, type RepoPath } from "../../../shared/base/paths.ts";
import { Contract } from "../../../shared/model/contract.ts";
import { readPersona } from "../../../shared/prompts/persona.ts";
import { createRedact } from "../../../shared/prompts/redact.ts";
import { MemoryFiles } from "../../support/memory-files.ts";
import { MemoryWorkspace } from "../../support/memory-workspace.ts";
import { RecordingSink } from "../../support/recording-sink.ts";

const persona = readPersona({
  path: "personas/worker.md",
  project: false,
  text: "---\nname: worker\nrole: worker\ndescription: works\nversion: 1\n---\nYou do one task.\n",
});
const texts = {
  "src/slug.py": "def slugify(text): ...\n",
  "src/api.py": "import slug\n",
  "tests/test_slug.py": "def test_words(): ...\n",
  "tests/test_table.py": "class Rows: ...\n",
  "tests/private/test_key.py": "def test_key(): ...\n",
  "tests/test_other.py": "def test_other(): ...\n",
};
const contract = Contract.parse({
  id: "S1",
  title: "Slugs",
  goal: "g",
  allowed: ["src/slug.py", "tests/test_new.py"],
  checks: [
    { name: "new", argv: ["python3", "-m", "pytest", "tests/test_slug.py::test_words", "tests/test_new.py"] },
    { name: "rows", argv: ["python3", "-m", "unittest", "tests.test_table"] },
    { name: "key", argv: ["python3", "-m", "pytest", "tests/private/test_key.py"] },
  ],
});

/** Labels of the data blocks of the prompt, section by section. */
async function shown(worker: string): Promise<Readonly<Record<string, readonly string[]>>> {
  const compose = composeFor(
    {
      files: new MemoryFiles({ "/repo/.orchignore": "tests/private/\n" }),
      git: { filesAt: () => Promise.resolve(Object.keys(texts) as RepoPath[]) } as never,
      ids: { next: () => "n1" },
      root: absPath("/repo"),
      runDir: absPath("/runs/r-1"),
      sink: new RecordingSink(),
    },
    { persona, redact: createRedact([]), isCompletion: (id) => id === "some/model" },
  );
  const workspace = new MemoryWorkspace(texts);
  const { messages } = await compose(
    { contract, attempt: 1, worker, workspace, sameSession: false },
    new AbortController().signal,
  );
  const sections = (messages.at(-1)?.content ?? "").split(/^# /m).slice(1);
  return Object.fromEntries(
    sections.map((text) => [
      text.split("\n")[0] ?? "",
      [...text.matchAll(/label="([^"]+)"|^(Not there yet: .*)$/gm)].map(([, label, absent]) => label ?? absent ?? ""),
    ]),
  );
}

describe("the prompt of a contract", () => {
  it("shows a completion its files, what is not there yet, and what its checks run", async () => {
    const sections = await shown("some/model");
    assert.deepEqual(sections["Files as they are now"], ["src/slug.py", "Not there yet: tests/test_new.py"]);
    assert.deepEqual(sections["Files that the checks run"], ["tests/test_slug.py", "tests/test_table.py"]);
  });

  it("shows an agent none: it opens them itself", async () => {
    const sections = await shown("pi");
    assert.deepEqual(
      [sections["Files as they are now"], sections["Files that the checks run"]],
      [undefined, undefined],
    );
  });
});
