import assert from "node:assert/strict";
import fc from "fast-check";
import { applyEdits, type ExtractOptions, readReply, replyLimits } from "../../../shared/prompts/extract.ts";

const dir = "features/Billing/Invoice";
const known = ["Schema.py", "Handler.py", "Controller.py", "Tests.py", "__init__.py", "spec.md"].map(
  (name) => `${dir}/${name}`,
);
const options: ExtractOptions = {
  dir,
  known,
  isAllowed: (path) => path.startsWith(`${dir}/`),
  isProtected: (path) => path === `${dir}/spec.md`,
};

/** Short names of what a reply gives: `{Handler.py: text}`, problems by kind, refused and skipped as they are. */
function given(reply: string, current: Readonly<Record<string, string>> = {}): Record<string, unknown> {
  const read = readReply(reply, options);
  const before = new Map(Object.entries(current).map(([name, text]) => [`${dir}/${name}`, text]));
  const { files, problems } = applyEdits(read.edits, before);
  const texts = Object.fromEntries(
    files.map(({ path, text }) => [path.startsWith(`${dir}/`) ? path.slice(dir.length + 1) : path, text]),
  );
  const out: Record<string, unknown> = { files: texts };
  const kinds = [...read.problems, ...problems].map(({ kind, message }) => `${kind}: ${message}`);
  if (kinds.length > 0) out["problems"] = kinds;
  if (read.refused.length > 0) out["refused"] = read.refused;
  if (read.skipped.length > 0) out["skipped"] = read.skipped;
  if (read.notes !== undefined) out["notes"] = read.notes;
  if (read.concerns.length > 0) out["concerns"] = read.concerns;
  return out;
}

const code = "def handle() -> int:\n    return 1\n";
const escaped = JSON.stringify(code);

describe("extract: JSON replies", () => {
  it("null takes a file away, inside the scope only, and what is not there cannot go", () => {
    const reply = JSON.stringify({ files: { "conftest.py": null, "../x.py": null, "spec.md": null, "gone.py": null } });
    const extraction = readReply(reply, {
      dir: "features/B/I",
      known: [],
      isAllowed: (path) => path.startsWith("features/B/I/"),
      isProtected: (path) => path.endsWith("spec.md"),
    });
    const { files } = applyEdits(extraction.edits, new Map([["features/B/I/conftest.py", "x = 1\n"]]));
    assert.deepEqual(
      [files, extraction.refused, extraction.skipped],
      [[{ path: "features/B/I/conftest.py", text: undefined }], ["../x.py"], ["features/B/I/spec.md"]],
    );
  });

  const table: readonly [string, string, Record<string, unknown>][] = [
    ["bare", `{"files": {"Handler.py": ${escaped}}}`, { files: { "Handler.py": code } }],
    [
      "with notes and concerns",
      `{"notes": "done", "concerns": ["rule 2 is vague"], "files": {"Handler.py": ${escaped}}}`,
      { files: { "Handler.py": code }, notes: "done", concerns: ["rule 2 is vague"] },
    ],
    [
      "in a fence, with prose around it",
      `Sure.\n\n\`\`\`json\n{"files": {"Handler.py": ${escaped}}}\n\`\`\`\nThat is all.`,
      { files: { "Handler.py": code } },
    ],
    [
      "in prose without a fence",
      `Here you go: {"files": {"Handler.py": ${escaped}}} Enjoy`,
      { files: { "Handler.py": code } },
    ],
    [
      "raw line feeds and tabs in a string",
      `{"files": {"Handler.py": "def f():\n\treturn 1\n"}}`,
      { files: { "Handler.py": "def f():\n\treturn 1\n" } },
    ],
    ["a comma too many", `{"files": {"Handler.py": "x = 1\\n",},}`, { files: { "Handler.py": "x = 1\n" } }],
    [
      "an escape JSON does not know",
      String.raw`{"files": {"Handler.py": "a = '\d'\n"}}`,
      { files: { "Handler.py": "a = '\\d'\n" } },
    ],
    ["lists of lines", `{"files": {"Handler.py": ["a = 1", "b = 2"]}}`, { files: { "Handler.py": "a = 1\nb = 2\n" } }],
    [
      "objects with content",
      `{"files": {"Handler.py": {"content": "a = 1\\n"}}}`,
      { files: { "Handler.py": "a = 1\n" } },
    ],
    [
      "a list of path and content",
      `{"files": [{"path": "Handler.py", "content": "a = 1\\n"}]}`,
      { files: { "Handler.py": "a = 1\n" } },
    ],
    [
      "fences inside a string",
      `{"files": {"Handler.py": "'''\\n\`\`\`python\\nx\\n\`\`\`\\n'''\\n"}}`,
      { files: { "Handler.py": "'''\n```python\nx\n```\n'''\n" } },
    ],
    ["the last line gets its end", `{"files": {"Handler.py": "a = 1"}}`, { files: { "Handler.py": "a = 1\n" } }],
    ["an empty file stays empty", `{"files": {"__init__.py": ""}}`, { files: { "__init__.py": "" } }],
    [
      "an object without files before the real one",
      `{"notes": "plan"} {"files": {"Handler.py": "a = 1\\n"}}`,
      { files: { "Handler.py": "a = 1\n" } },
    ],
    [
      "SEARCH/REPLACE as a value",
      `{"files": {"Handler.py": "<<<<<<< SEARCH\\na = 1\\n=======\\na = 2\\n>>>>>>> REPLACE"}}`,
      { files: { "Handler.py": "a = 2\n" } },
    ],
    [
      "a value that is no text",
      `{"files": {"Handler.py": 7}}`,
      { files: {}, problems: ["extraction: the value of Handler.py is no text"] },
    ],
    ["no file at all", `{"files": {}}`, { files: {}, problems: ["extraction: the object's files hold no file"] }],
    [
      "cut off in a string",
      `{"files": {"Handler.py": "def f():\\n    ret`,
      { files: {}, problems: ["truncation: the JSON text stops before its end"] },
    ],
    [
      "cut off between files",
      `{"files": {"Handler.py": "a = 1\\n", `,
      { files: {}, problems: ["truncation: the JSON text stops before its end"] },
    ],
  ];
  for (const [name, reply, wanted] of table) {
    it(name, () => assert.deepEqual(given(reply, { "Handler.py": "a = 1\n" }), wanted));
  }

  it("keys that objects treat specially are names like any other", () => {
    const read = readReply(`{"files": {"__proto__": "x", "constructor": "y"}}`, options);
    assert.deepEqual(
      read.edits.map(({ path }) => path),
      [`${dir}/__proto__`, `${dir}/constructor`],
    );
  });
});

describe("extract: fenced files", () => {
  const fence = "```";
  const table: readonly [string, string, Record<string, unknown>][] = [
    ["path after the language", `${fence}python Handler.py\n${code}${fence}`, { files: { "Handler.py": code } }],
    [
      "whole path after the language",
      `${fence}python ${dir}/Handler.py\n${code}${fence}`,
      { files: { "Handler.py": code } },
    ],
    ["language:path", `${fence}python:Handler.py\n${code}${fence}`, { files: { "Handler.py": code } }],
    ["title=", `${fence}python title="Handler.py"\n${code}${fence}`, { files: { "Handler.py": code } }],
    ["path alone as info", `${fence}Handler.py\n${code}${fence}`, { files: { "Handler.py": code } }],
    ["quoted path above", `\`Handler.py\`\n${fence}python\n${code}${fence}`, { files: { "Handler.py": code } }],
    [
      "plain path above, an empty line between",
      `Handler.py\n\n${fence}python\n${code}${fence}`,
      { files: { "Handler.py": code } },
    ],
    [
      "bold path above with a colon",
      `**Handler.py**:\n${fence}python\n${code}${fence}`,
      { files: { "Handler.py": code } },
    ],
    ["bold colon inside", `**Handler.py:**\n${fence}python\n${code}${fence}`, { files: { "Handler.py": code } }],
    [
      "heading above",
      `### 1. \`Handler.py\` (new)\n${fence}python\n${code}${fence}`,
      { files: { "Handler.py": code } },
    ],
    [
      "heading above, a sentence between",
      `### 2. \`Handler.py\`\n\nIt checks the zone now.\n\n${fence}python\n${code}${fence}\nUse it so:\n${fence}python\nhandle(1)\n${fence}`,
      { files: { "Handler.py": code } },
    ],
    [
      "heading above, a snippet before the file",
      `### Handler.py\n\nThe bug is in this line:\n${fence}python\nx\n${fence}\nThe whole file, mended:\n${fence}python\n${code}${fence}`,
      { files: { "Handler.py": code } },
    ],
    [
      "heading above, two blocks of which either could be the file",
      `### Handler.py\n\nEither:\n${fence}python\n${code}${fence}\nOr so:\n${fence}python\n${code}\n${fence}`,
      { files: {}, problems: ["extraction: no file could be found in the reply"] },
    ],
    [
      "a block that names itself under the heading of another",
      `### Handler.py\n\nIts schema first.\n${fence}python\n# Schema.py\n${code}${fence}`,
      { files: { "Schema.py": code } },
    ],
    [
      "a block of another language under a heading is no file",
      `## Handler.py\nFirst run this.\n${fence}bash\nls\n${fence}\nThen:\n${fence}python\n${code}${fence}`,
      { files: { "Handler.py": code } },
    ],
    [
      "a heading that names nothing ends the one before",
      `## Handler.py\nNothing to do.\n## Use\nSo:\n${fence}python\nhandle(1)\n${fence}`,
      { files: {}, problems: ["extraction: no file could be found in the reply"] },
    ],
    ["File: above", `File: ${dir}/Handler.py\n${fence}python\n${code}${fence}`, { files: { "Handler.py": code } }],
    ["list item above", `1. Handler.py\n${fence}python\n${code}${fence}`, { files: { "Handler.py": code } }],
    ["path comment as first line", `${fence}python\n# Handler.py\n${code}${fence}`, { files: { "Handler.py": code } }],
    [
      "path comment with its word",
      `${fence}python\n# file: ${dir}/Handler.py\n${code}${fence}`,
      { files: { "Handler.py": code } },
    ],
    [
      "a comment that is no path stays",
      `${fence}python Handler.py\n# rounds half up\n${code}${fence}`,
      { files: { "Handler.py": `# rounds half up\n${code}` } },
    ],
    [
      "prose that names a known file",
      `Here is the new \`Handler.py\`:\n${fence}python\n${code}${fence}`,
      { files: { "Handler.py": code } },
    ],
    [
      "prose that names an unknown file is only prose",
      `Then run it from \`main.py\`:\n${fence}python\nprint(1)\n${fence}\n\`Handler.py\`\n${fence}python\n${code}${fence}`,
      { files: { "Handler.py": code } },
    ],
    ["tildes", `Handler.py\n~~~python\n${code}~~~`, { files: { "Handler.py": code } }],
    [
      "four backticks hold three",
      `${fence}\`python Handler.py\n"""\n${fence}\nsample\n${fence}\n"""\n${fence}\``,
      { files: { "Handler.py": `"""\n${fence}\nsample\n${fence}\n"""\n` } },
    ],
    [
      "nested fences",
      `${fence}markdown NOTES.md\n# Use\n${fence}python\nx = 1\n${fence}\nend\n${fence}`,
      { files: { "NOTES.md": `# Use\n${fence}python\nx = 1\n${fence}\nend\n` } },
    ],
    [
      "indented in a list",
      `- Handler.py\n  ${fence}python\n  def f():\n      pass\n  ${fence}`,
      { files: { "Handler.py": "def f():\n    pass\n" } },
    ],
    [
      "two files",
      `${fence}python Schema.py\na = 1\n${fence}\ntext\n${fence}python Handler.py\nb = 2\n${fence}`,
      { files: { "Schema.py": "a = 1\n", "Handler.py": "b = 2\n" } },
    ],
    [
      "the later text of a file wins",
      `${fence}python Handler.py\na = 1\n${fence}\nBetter:\n${fence}python Handler.py\na = 2\n${fence}`,
      { files: { "Handler.py": "a = 2\n" } },
    ],
    [
      "a sample without a path is left out",
      `${fence}python\nx = 1\n${fence}`,
      { files: {}, problems: ["extraction: no file could be found in the reply"] },
    ],
    [
      "JSON as a file's content is content",
      `${fence}python Handler.py\nX = {"files": {"a": 1}}\n${fence}`,
      { files: { "Handler.py": 'X = {"files": {"a": 1}}\n' } },
    ],
    ["CRLF reply", `Handler.py\r\n${fence}python\r\na = 1\r\n${fence}\r\n`, { files: { "Handler.py": "a = 1\n" } }],
    [
      "unclosed",
      `${fence}python Handler.py\ndef f():\n    ret`,
      { files: {}, problems: ["truncation: a fence that begins at line 1 of the reply never ends"] },
    ],
    [
      "the second unclosed takes the first with it",
      `${fence}python Schema.py\na = 1\n${fence}\n${fence}python Handler.py\nb =`,
      { files: {}, problems: ["truncation: a fence that begins at line 4 of the reply never ends"] },
    ],
    [
      "the closing fence forgotten between two",
      `${fence}python Schema.py\na = 1\n${fence}python Handler.py\nb = 2\n${fence}`,
      { files: {}, problems: ["truncation: a fence that begins at line 1 of the reply never ends"] },
    ],
    [
      "nothing but prose",
      "I cannot do that.",
      { files: {}, problems: ["extraction: no file could be found in the reply"] },
    ],
    ["nothing", "", { files: {}, problems: ["extraction: no file could be found in the reply"] }],
  ];
  for (const [name, reply, wanted] of table) it(name, () => assert.deepEqual(given(reply), wanted));
});

describe("extract: SEARCH/REPLACE", () => {
  const patch = (search: string, replace: string): string =>
    `<<<<<<< SEARCH\n${search}=======\n${replace}>>>>>>> REPLACE\n`;
  const current = { "Handler.py": "import os\n\n\ndef f():\n    a = 1\n    return a\n\n\ndef g():\n    return 2\n" };
  const edited = { "Handler.py": current["Handler.py"].replace("a = 1", "a = 9") };
  const table: readonly [string, string, Record<string, unknown>][] = [
    [
      "in a fence under its path",
      `Handler.py\n\`\`\`python\n${patch("    a = 1\n", "    a = 9\n")}\`\`\``,
      { files: edited },
    ],
    [
      "path inside the fence",
      `\`\`\`\n${dir}/Handler.py\n${patch("    a = 1\n", "    a = 9\n")}\`\`\``,
      { files: edited },
    ],
    ["without a fence", `Handler.py\n${patch("    a = 1\n", "    a = 9\n")}`, { files: edited }],
    [
      "two in a row for one file",
      `Handler.py\n${patch("    a = 1\n", "    a = 9\n")}${patch("    return 2\n", "    return 3\n")}`,
      { files: { "Handler.py": edited["Handler.py"].replace("return 2", "return 3") } },
    ],
    [
      "the second builds on the first",
      `Handler.py\n${patch("    a = 1\n", "    b = 1\n")}${patch("    b = 1\n", "    a = 9\n")}`,
      { files: edited },
    ],
    ["white space at line ends", `Handler.py\n${patch("    a = 1   \n", "    a = 9\n")}`, { files: edited }],
    ["blank lines around", `Handler.py\n${patch("\n    a = 1\n\n", "\n    a = 9\n\n")}`, { files: edited }],
    [
      "indentation forgiven, replacement moved",
      `Handler.py\n${patch("a = 1\nreturn a\n", "a = 9\nreturn a\n")}`,
      { files: edited },
    ],
    ["indentation too deep", `Handler.py\n${patch("        a = 1\n", "        a = 9\n")}`, { files: edited }],
    [
      "removal",
      `Handler.py\n${patch("import os\n\n\n", "")}`,
      { files: { "Handler.py": current["Handler.py"].slice("import os\n\n\n".length) } },
    ],
    ["a new file", `Schema.py\n${patch("", "x = 1\n")}`, { files: { "Schema.py": "x = 1\n" } }],
    [
      "not there",
      `Handler.py\n${patch("    z = 1\n", "    z = 2\n")}`,
      { files: {}, problems: ["extraction: a patch does not fit: the SEARCH part is not in the file"] },
    ],
    [
      "not unique",
      `Handler.py\n${patch("\n\n", "\n")}`,
      { files: {}, problems: ["extraction: a patch does not fit: the SEARCH part is empty, but the file is not"] },
    ],
    [
      "fits twice",
      `Handler.py\n${patch("return\n", "x\n").replace("return\n", "def\n")}`,
      { files: {}, problems: ["extraction: a patch does not fit: the SEARCH part is not in the file"] },
    ],
    [
      "no file named",
      patch("a\n", "b\n"),
      { files: {}, problems: ["extraction: the patch at line 1 of the reply names no file"] },
    ],
    [
      "cut off",
      "Handler.py\n<<<<<<< SEARCH\n    a = 1\n=======\n    a =",
      { files: {}, problems: ["truncation: a patch that begins at line 2 of the reply never ends"] },
    ],
    [
      "cut off in a fence",
      "Handler.py\n```python\n<<<<<<< SEARCH\n    a = 1\n```",
      { files: {}, problems: ["truncation: a patch that begins at line 3 of the reply never ends"] },
    ],
    [
      "fences in a patch are text",
      `Handler.py\n${patch("import os\n", "import os  # ```\n```\n")}`,
      { files: { "Handler.py": current["Handler.py"].replace("import os\n", "import os  # ```\n```\n") } },
    ],
  ];
  for (const [name, reply, wanted] of table) it(name, () => assert.deepEqual(given(reply, current), wanted));

  it("refuses a guess between two places", () => {
    const twice = { "Handler.py": "x = 1\ny = 2\nx = 1\n" };
    assert.deepEqual(given(`Handler.py\n${patch("x = 1\n", "x = 2\n")}`, twice), {
      files: {},
      problems: ["extraction: a patch does not fit: the SEARCH part fits more than 1 place: add lines around it"],
    });
  });

  it("one patch that does not fit keeps the whole file as it is", () => {
    const reply = `Handler.py\n${patch("    a = 1\n", "    a = 9\n")}${patch("nowhere\n", "x\n")}Schema.py\n${patch("", "s = 1\n")}`;
    assert.deepEqual(Object.keys(given(reply, current)["files"] as object), ["Schema.py"]);
  });
});

describe("extract: line ends and marks of the file that is there", () => {
  const reply = `{"files": {"Handler.py": "a = 2\\nb = 3\\n"}}`;
  const table: readonly [string, string | undefined, string][] = [
    ["no file yet", undefined, "a = 2\nb = 3\n"],
    ["LF", "a = 1\n", "a = 2\nb = 3\n"],
    ["CRLF", "a = 1\r\nb = 1\r\n", "a = 2\r\nb = 3\r\n"],
    ["mixed, mostly LF", "a\nb\nc\r\n", "a = 2\nb = 3\n"],
    ["byte order mark", "\uFEFFa = 1\n", "\uFEFFa = 2\nb = 3\n"],
  ];
  for (const [name, before, wanted] of table) {
    it(name, () =>
      assert.deepEqual(given(reply, before === undefined ? {} : { "Handler.py": before }), {
        files: { "Handler.py": wanted },
      }),
    );
  }

  it("a patch keeps them too", () => {
    const patched = given("Handler.py\n<<<<<<< SEARCH\nb = 1\n=======\nb = 2\nc = 3\n>>>>>>> REPLACE\n", {
      "Handler.py": "a = 1\r\nb = 1\r\n",
    });
    assert.deepEqual(patched, { files: { "Handler.py": "a = 1\r\nb = 2\r\nc = 3\r\n" } });
  });
});

describe("extract: paths", () => {
  const written = (path: string): Record<string, unknown> => given(JSON.stringify({ files: { [path]: "x\n" } }));
  const inside: readonly [string, string][] = [
    ["Handler.py", "Handler.py"],
    ["./Handler.py", "Handler.py"],
    [`${dir}/Handler.py`, "Handler.py"],
    ["Billing/Invoice/Handler.py", "Handler.py"],
    ["Invoice/Handler.py", "Handler.py"],
    ["Invoice\\Handler.py", "Handler.py"],
    ["handler.py", "Handler.py"],
    ["Money.py", "Money.py"],
    ["Übersicht.md", "Übersicht.md"],
    [`${"ü".repeat(126)}.py`, `${"ü".repeat(126)}.py`],
  ];
  for (const [path, wanted] of inside)
    it(`takes ${path}`, () => assert.deepEqual(written(path), { files: { [wanted]: "x\n" } }));

  const refused = [
    "../Handler.py",
    "a/../../Handler.py",
    "..\\Handler.py",
    "/etc/passwd",
    "C:\\Windows\\x.py",
    "C:x.py",
    "\\\\server\\share\\x.py",
    "~/x.py",
    "nul\u0000.py",
    "a\nb.py",
    "CON.py",
    "aux",
    "Handler.py:stream",
    "Handler.py.",
    "what?.py",
    "src/app.py",
    "tests/test_a.py",
    ".git/config",
    ".github/workflows/x.yml",
    "features/Billing/Other/Handler.py",
    "features/Billing/InvoiceX/Handler.py",
    "Invoice/",
    `${"a".repeat(500)}.py`,
    `${"a".repeat(253)}.py`,
    `${"ü".repeat(127)}.py`,
    `features/Billing/Invoice/${"é".repeat(128)}/a.py`,
  ];
  for (const path of refused) {
    it(`refuses ${JSON.stringify(path).slice(0, 60)}`, () => {
      const out = written(path);
      assert.deepEqual(out["files"], {});
      assert.equal((out["refused"] as string[]).length, 1);
    });
  }

  it("a protected file is skipped and named, the rest is taken", () => {
    assert.deepEqual(given(`{"files": {"spec.md": "# x", "Handler.py": "a = 1\\n"}}`), {
      files: { "Handler.py": "a = 1\n" },
      skipped: [`${dir}/spec.md`],
    });
    assert.deepEqual(given(`{"files": {"SPEC.md": "# x"}}`), { files: {}, skipped: [`${dir}/spec.md`] });
  });

  it("without a slice, names are relative to the root and the scope decides", () => {
    const root: ExtractOptions = {
      dir: "",
      known: [],
      isAllowed: (path) => path === "src/a.py",
      isProtected: () => false,
    };
    const read = readReply(`{"files": {"src/a.py": "x\\n", "src/b.py": "y\\n"}}`, root);
    assert.deepEqual([read.edits.map(({ path }) => path), read.refused], [["src/a.py"], ["src/b.py"]]);
  });
});

describe("extract: placeholders", () => {
  const placeholders = [
    "# ... rest of the code unchanged ...",
    "# ... existing code ...",
    "    # … remaining methods stay the same",
    "// ... (rest unchanged)",
    "# rest of the file is unchanged",
    "# The rest of the implementation remains the same",
    "/* ... existing imports ... */",
    "<!-- rest of the content here ... -->",
    "# (unchanged)",
    "# existing code",
    "[... rest of file ...]",
    "# other functions omitted for brevity",
    "# previous code ...",
    "# ... same as before",
    "# ... BASE and SURCHARGE unchanged ...",
    "// ... imports as before",
    "# test_one and test_two stay the same ...",
    "# ... `total()`, Order2 and BASE (unchanged)",
  ];
  for (const line of placeholders) {
    it(`sees ${line.trim()}`, () => {
      const out = given(JSON.stringify({ files: { "Handler.py": `a = 1\n${line}\nb = 2\n` } }));
      assert.deepEqual([out["files"], (out["problems"] as string[])[0]?.startsWith("truncation: line 2")], [{}, true]);
    });
  }
  const honest = [
    "# Keep the rest of the fields unchanged when one is set",
    "# the remaining amount is refunded",
    "    ...",
    "class Port(Protocol): ...",
    "# previous total, before tax",
    "# other currencies are refused",
    "x = values[...]",
    'raise ValueError("the same name ... twice")',
    "# Unchanged totals are not sent again",
    "# rest days are not counted",
    "# same as Decimal.quantize, but rounds half up",
    "# existing invoices keep their number",
    "# ... which leaves the unchanged rows out",
    "# the order of equal rows stays the same",
    "# ... and the order of the rows stays the same.",
    "// ...so that the caller's list is unchanged",
    " * ... where blanks are omitted",
    "# keys as before...",
  ];
  for (const line of honest) {
    it(`lets ${line.trim()} be`, () => {
      const text = `a = 1\n${line}\n`;
      assert.deepEqual(given(JSON.stringify({ files: { "Handler.py": text } })), { files: { "Handler.py": text } });
    });
  }
});

describe("extract: hostile and huge replies", () => {
  it("5 MB of anything is read in linear time", () => {
    const big = 5_000_000;
    const replies = [
      `{"files": {"Handler.py": "${"a".repeat(big)}"}}`,
      `{"files": {"Handler.py": "${"a = 1\\n".repeat(big / 8)}`,
      '{"files":'.repeat(big / 9),
      "```\n".repeat(big / 4),
      "```python Handler.py\n".repeat(big / 21),
      "<<<<<<< SEARCH\n".repeat(big / 15),
      `Handler.py\n${"<<<<<<< SEARCH\na\n=======\nb\n>>>>>>> REPLACE\n".repeat(big / 43)}`,
      "`".repeat(big),
      "{".repeat(big),
      `{"files": {"a.py": ${"[".repeat(big)}`,
      `{"files": {${'"a.py": "x",'.repeat(big / 12)} "b.py": ""}}`,
      `{"files": {"a": 1}, ${" ".repeat(big)}`,
      "# ... ".repeat(big / 6),
      `Handler.py\n\`\`\`python\n${`# ... ${"a_1, ".repeat(78)}\n`.repeat(big / 397)}\`\`\``,
      `\`${"a/".repeat(big / 2)}.py\`:\n\`\`\`\nx\n\`\`\``,
      `Handler.py\n\`\`\`python\n${"    value = compute(1)\n".repeat(big / 23)}\`\`\``,
    ];
    for (const reply of replies) {
      // CPU time: a busy machine makes nothing quadratic.
      const began = process.cpuUsage();
      const read = readReply(reply, options);
      applyEdits(read.edits, new Map([[`${dir}/Handler.py`, "a\n"]]));
      const { user, system } = process.cpuUsage(began);
      const ms = (user + system) / 1000;
      assert.ok(ms < 3000, `${reply.slice(0, 30)} took ${ms} ms`);
      assert.ok(read.edits.length <= replyLimits.patches + replyLimits.files);
    }
  }).timeout(60_000);

  it("a file that is too long is a problem, not a file", () => {
    assert.deepEqual(given(JSON.stringify({ files: { "Handler.py": "a".repeat(replyLimits.fileChars + 1) } })), {
      files: {},
      problems: ["extraction: the file is longer than 1000000 characters"],
    });
  });

  it("too many files are a problem", () => {
    const files = Object.fromEntries(Array.from({ length: replyLimits.files + 5 }, (_, at) => [`f${at}.py`, "x\n"]));
    const read = readReply(JSON.stringify({ files }), options);
    assert.deepEqual(
      [read.edits.length, read.problems.map(({ message }) => message)],
      [replyLimits.files, ["the reply holds more than 200 files"]],
    );
  });

  it("property: never throws, and no path ever leaves the slice", () => {
    const piece = fc.oneof(
      fc.constantFrom(
        "```",
        "```python Handler.py",
        "~~~",
        "<<<<<<< SEARCH",
        "=======",
        ">>>>>>> REPLACE",
        "{",
        "}",
        '"files"',
        ":",
        '{"files": {',
        "Handler.py",
        "`../x.py`",
        "\\",
        '"',
        "\n",
        "\r\n",
        "\0",
        "../../etc/passwd",
        "# ... rest",
        "C:\\a.py",
        "features/Billing/Invoice/Tests.py",
      ),
      fc.string({ maxLength: 20 }),
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 40 }), fc.constantFrom("", "\n", " "), (pieces, glue) => {
        const read = readReply(pieces.join(glue), options);
        const { files } = applyEdits(read.edits, new Map([[`${dir}/Handler.py`, "a\n"]]));
        for (const { path } of [...read.edits, ...files]) {
          assert.ok(
            path.startsWith(`${dir}/`) && !path.includes("..") && !path.includes("\\") && !path.includes("\0"),
            path,
          );
          assert.notEqual(path, `${dir}/spec.md`);
        }
      }),
      { numRuns: 500 },
    );
  });

  it("property: any texts as JSON come out as they went in", () => {
    const text = fc
      .string({ unit: "binary" })
      .map((one) => one.replace(/[\r\uFEFF]/g, "").replace(/(?:\.{3}|…|brevity|SEARCH)/g, ""));
    fc.assert(
      fc.property(
        fc.dictionary(fc.constantFrom("Schema.py", "Handler.py", "Tests.py"), text, { minKeys: 1 }),
        (files) => {
          const out = given(JSON.stringify({ files }))["files"] as Record<string, string>;
          for (const [name, one] of Object.entries(files))
            assert.equal(out[name], one === "" || one.endsWith("\n") ? one : `${one}\n`);
        },
      ),
      { numRuns: 200 },
    );
  });
});
