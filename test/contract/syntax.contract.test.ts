import assert from "node:assert/strict";
import fs from "node:fs";
import { createProcess } from "../../shared/adapters/process.ts";
import { createPythonCompile } from "../../shared/adapters/python-compile.ts";
import { createTypeStrip } from "../../shared/adapters/type-strip.ts";
import { exactSyntaxOf } from "../../shared/app/exact-syntax.ts";
import { isAbort } from "../../shared/base/abort.ts";
import type { AbsPath } from "../../shared/base/paths.ts";
import type { LoadedPack } from "../../shared/features/packs.ts";
import type { ExactSyntax, Matcher, SyntaxAnswer } from "../../shared/ports/syntax.ts";
import { realSyntax } from "../support/rulebook.ts";
import { TempDir } from "../support/temp-dir.ts";

const never = new AbortController().signal;

describe("syntax trees", function () {
  this.timeout(600_000);

  async function matcherOf(
    queries: Readonly<Record<string, string>>,
    uses: Readonly<Record<string, string>> = {},
  ): Promise<Matcher> {
    const sources = (of: Readonly<Record<string, string>>): { id: string; text: string }[] =>
      Object.entries(of).map(([id, text]) => ({ id, text }));
    const result = await realSyntax().matcher("python", sources(queries), sources(uses));
    assert.ok(result.kind === "ready");
    assert.deepEqual(result.broken, []);
    return result.matcher;
  }

  it("one walk answers for every query, each match with its query's id and its places", async () => {
    using matcher = await matcherOf({ a: "(assert_statement) @at", b: "(identifier) @name\n(integer) @number" });
    using parsed = matcher.parse("assert x\ny = 1\n", 1000);
    const found = parsed
      ?.matches()
      .map(({ query, captures }) => [query, captures[0]?.name, captures[0]?.line, captures[0]?.column]);
    assert.deepEqual(found?.toSorted(), [
      ["a", "at", 1, 1],
      ["b", "name", 1, 8],
      ["b", "name", 2, 1],
      ["b", "number", 2, 5],
    ]);
  });

  it("offsets count UTF-16 units, as the text does", async () => {
    using matcher = await matcherOf({ a: "(integer) @at" });
    const text = "x = '\u{1F600}é'; y = 7\n";
    using parsed = matcher.parse(text, 1000);
    const place = parsed?.matches()[0]?.captures[0];
    assert.equal(text.slice(place?.start, place?.end), "7");
  });

  it("#inside? and #not-inside? look around", async () => {
    using matcher = await matcherOf({
      in: "((integer) @at (#inside? @at class_definition))",
      out: "((integer) @at (#not-inside? @at class_definition function_definition))",
    });
    using parsed = matcher.parse("class A:\n  a = 1\ndef f():\n  b = 2\nc = 3\n", 1000);
    assert.deepEqual(
      parsed?.matches().map(({ query, captures }) => [query, captures[0]?.line]),
      [
        ["in", 2],
        ["out", 5],
      ],
    );
  });

  it("uses are asked for a range only", async () => {
    using matcher = await matcherOf({}, { use: "(identifier) @use" });
    using parsed = matcher.parse("a = b\n", 1000);
    assert.deepEqual([parsed?.matches(), parsed?.usesIn(4, 5).map(({ captures }) => captures[0]?.start)], [[], [4]]);
  });

  const broken: readonly (readonly [string, string, number, number, RegExp])[] = [
    ["an unknown node", "(identifier) @a\n  (nonsense) @b", 2, 4, /nonsense/],
    ["an unknown field", "(call nonsense: (_)) @a", 1, 7, /nonsense/],
    ["bad nesting", "((identifier) @a", 1, 1, /./],
    ["an unknown predicate", "((identifier) @a (#looks-bad? @a))", 1, 1, /unknown predicate #looks-bad/],
    ["a broken expression", '((identifier) @a (#match? @a "["))', 1, 1, /regular expression/i],
  ];
  for (const [what, text, line, column, reason] of broken) {
    it(`${what}: named, and the others still run`, async () => {
      const result = await realSyntax().matcher(
        "python",
        [
          { id: "bad", text },
          { id: "good", text: "(integer) @at" },
        ],
        [],
      );
      assert.ok(result.kind === "ready");
      const [fault] = result.broken;
      assert.deepEqual([result.broken.length, fault?.id], [1, "bad"]);
      assert.match(fault?.reason ?? "", reason);
      if (what.startsWith("an unknown node") || what.startsWith("an unknown field"))
        assert.deepEqual([fault?.line, fault?.column], [line, column]);
      using matcher = result.matcher;
      using parsed = matcher.parse("1\n", 1000);
      assert.equal(parsed?.matches()[0]?.query, "good");
    });
  }

  it("a grammar that is not there is a value", async () => {
    for (const name of ["klingon", "../../../etc/passwd"])
      assert.equal((await realSyntax().matcher(name, [], [])).kind, "missing");
  });

  it("faults name places; a valid text has none", async () => {
    using matcher = await matcherOf({});
    const faults = (text: string): readonly number[] => {
      using parsed = matcher.parse(text, 1000);
      return parsed?.faults(5).map(({ line }) => line) ?? [];
    };
    assert.deepEqual([faults("a = 1\n"), faults("a = 1\nb = (\n").length > 0], [[], true]);
  });

  it("parsing has an end, and the matcher lives on", async () => {
    using matcher = await matcherOf({ a: "(integer) @at" });
    assert.equal(matcher.parse("f(1, [2, {3: 4}])\n".repeat(60_000), 1), undefined);
    using parsed = matcher.parse("1\n", 1000);
    assert.equal(parsed?.matches().length, 1);
  });
});

describe("exact Python syntax", function () {
  this.timeout(600_000);
  const env = { PATH: process.env["PATH"] ?? "", LC_ALL: "C.UTF-8" };

  async function check(
    files: Readonly<Record<string, string | Uint8Array>>,
    syntax?: ExactSyntax,
  ): Promise<Readonly<Record<string, SyntaxAnswer | undefined>>> {
    using dir = new TempDir();
    const paths = Object.keys(files).map((name) => dir.at(name));
    for (const [name, data] of Object.entries(files)) fs.writeFileSync(dir.at(name), data);
    const exact = syntax ?? createPythonCompile({ process: createProcess(), env, cwd: dir.path });
    const result = await exact.check([...paths, dir.at("gone.py")], never);
    assert.ok(result.kind === "checked", result.kind === "checked" ? "" : result.why);
    assert.match(result.by, /^Python 3\.\d+/);
    assert.equal(result.answers.get(dir.at("gone.py"))?.kind, "unverified");
    return Object.fromEntries(Object.keys(files).map((name) => [name, result.answers.get(dir.at(name))]));
  }

  it("answers for every file in one run, and takes what CPython takes", async () => {
    const answers = await check({
      "good.py": "x: int = 1\n",
      "bom.py": "\uFEFFx = 1\n",
      "crlf.py": "if x:\r\n    y\r\n",
      "latin.py": Uint8Array.from([
        ...new TextEncoder().encode("# -*- coding: latin-1 -*-\nx = '"),
        0xe9,
        ...new TextEncoder().encode("'\n"),
      ]),
      "empty.py": "",
      "with space é.py": "y = 2\n",
    });
    assert.deepEqual(
      Object.values(answers).map((answer) => answer?.kind),
      ["ok", "ok", "ok", "ok", "ok", "ok"],
    );
  });

  /** A tree for Python accepts all of these. */
  const faults: readonly (readonly [string, string | Uint8Array, number])[] = [
    ["a missing block", "if x:\n", 1],
    ["wrong indentation", "x = 1\n    y = 2\n", 2],
    ["Python 2", "print 'x'\n", 1],
    ["return outside of a function", "\nreturn 1\n", 2],
    ["the same argument twice", "def f(a, a): pass\n", 1],
    ["a positional after a keyword argument", "f(a=1, 2)\n", 1],
    ["try without except", "try:\n    x\ny\n", 3],
    ["a leading zero", "x = 01\n", 1],
    ["bytes that are not UTF-8", Uint8Array.from([0x78, 0x3d, 0x27, 0xff, 0x27, 0x0a]), 1],
    ["a NUL byte", "x = 1\0\n", 1],
  ];
  it("names the line of what CPython refuses", async () => {
    const answers = await check(Object.fromEntries(faults.map(([, text], index) => [`f${index}.py`, text])));
    const lines = Object.values(answers).map((answer) => (answer?.kind === "fault" ? answer.fault.line : answer?.kind));
    assert.deepEqual(
      lines,
      faults.map(([, , line]) => line),
      JSON.stringify(answers),
    );
  });

  it("compiles and runs nothing, writes no byte code", async () => {
    using dir = new TempDir();
    fs.writeFileSync(dir.at("a.py"), `open(${JSON.stringify(dir.at("ran"))}, "w")\n`);
    await createPythonCompile({ process: createProcess(), env, cwd: dir.path }).check([dir.at("a.py")], never);
    assert.deepEqual(fs.readdirSync(dir.path), ["a.py"]);
  });

  it("too deep a file is unverified and does not take the others with it", async () => {
    const answers = await check({
      "deep.py": `${"(".repeat(150)}1${")".repeat(150)}\n`,
      "deeper.py": `x = ${"-".repeat(200_000)}1\n`,
      "good.py": "a\n",
    });
    assert.equal(answers["good.py"]?.kind, "ok");
    assert.notEqual(answers["deeper.py"]?.kind, "ok");
  });

  it("no interpreter: not verified, and nothing is claimed", async () => {
    const exact = createPythonCompile({ process: createProcess(), env: { PATH: "/nowhere" }, cwd: "/" as AbsPath });
    const result = await exact.check(["/a.py" as AbsPath], never);
    assert.deepEqual(result, { kind: "not-verified", why: "python3 was not found" });
  });

  it("an interpreter that does not start is passed over", async () => {
    using dir = new TempDir();
    fs.mkdirSync(dir.at("bin"));
    fs.writeFileSync(dir.at("bin", "python3"), "#!/bin/sh\nexit 127\n", { mode: 0o755 });
    fs.writeFileSync(dir.at("a.py"), "a\n");
    const only = createPythonCompile({ process: createProcess(), env: { PATH: dir.at("bin") }, cwd: dir.path });
    assert.equal((await only.check([dir.at("a.py")], never)).kind, "not-verified");
    const both = createPythonCompile({
      process: createProcess(),
      env: { PATH: `${dir.at("bin")}:${env.PATH}` },
      cwd: dir.path,
    });
    assert.equal((await both.check([dir.at("a.py")], never)).kind, "checked");
  });

  it("a compiler that dies on one file leaves that one unverified", async () => {
    using dir = new TempDir();
    // A stand-in for an interpreter that crashes: it answers as the real one does, and dies on the file named so.
    fs.writeFileSync(
      dir.at("python3"),
      `#!/bin/sh\necho '{"python": "3.99.0"}'\nwhile read -r line; do case "$line" in *crash*) kill -SEGV $$;; *) echo "\${line%%,*}]";; esac; done\n`,
      { mode: 0o755 },
    );
    const exact = createPythonCompile({
      process: createProcess(),
      env: { PATH: `${dir.path}:/usr/bin:/bin` },
      cwd: dir.path,
    });
    const names = ["a.py", "crash.py", "b.py", "c.py"] as const;
    const result = await exact.check(
      names.map((name) => dir.at(name)),
      never,
    );
    assert.ok(result.kind === "checked");
    assert.deepEqual(
      names.map((name) => result.answers.get(dir.at(name))?.kind),
      ["ok", "unverified", "ok", "ok"],
    );
  });

  it("an abort ends it", async () => {
    const controller = new AbortController();
    controller.abort();
    const exact = createPythonCompile({ process: createProcess(), env, cwd: "/" as AbsPath });
    await assert.rejects(exact.check(["/a.py" as AbsPath], controller.signal), isAbort);
  });
});

describe("exact TypeScript syntax", function () {
  this.timeout(600_000);

  async function check(
    files: Readonly<Record<string, string>>,
  ): Promise<Readonly<Record<string, SyntaxAnswer | undefined>>> {
    using dir = new TempDir();
    for (const [name, data] of Object.entries(files)) fs.writeFileSync(dir.at(name), data);
    const result = await createTypeStrip().check(
      [...Object.keys(files), "gone.ts"].map((name) => dir.at(name)),
      never,
    );
    assert.ok(result.kind === "checked", result.kind === "checked" ? "" : result.why);
    assert.match(result.by, /^the TypeScript parser of Node\.js \d+/);
    assert.equal(result.answers.get(dir.at("gone.ts"))?.kind, "unverified");
    return Object.fromEntries(Object.keys(files).map((name) => [name, result.answers.get(dir.at(name))]));
  }

  /** The grammar's tree takes the first three for faulty; the others cannot be stripped, and are valid. */
  const valid: readonly string[] = [
    "export interface Box<in out T = never> { readonly value: T; }\n",
    'type Stream<R> = import("node:stream/web").ReadableStream<R>;\n',
    "export class A { accessor x: number = 1; }\n",
    "enum A { B }\nnamespace N { export const x = 1; }\n",
    "class A { constructor(private readonly x: number) {} }\n",
    "\uFEFFconst a = <T,>(x: T): T => x satisfies T;\r\n",
    "#!/usr/bin/env node\nawait using x = y as const;\n",
    "@decorated\nclass A { @field() x!: number; }\n",
    "",
  ];
  it("takes what TypeScript takes", async () => {
    const answers = await check(Object.fromEntries(valid.map((text, at) => [`v${at} é.ts`, text])));
    assert.deepEqual(
      Object.values(answers).map((answer) => answer?.kind),
      valid.map(() => "ok"),
      JSON.stringify(answers),
    );
  });

  const faults: readonly (readonly [string, number, number])[] = [
    ["let x: = 3\n", 1, 8],
    ["const a = 1;\nconst b = {\n", 2, 1],
    ["a;\n\nif (a {\n}\n", 3, 7],
    ['const a = "x\n', 1, 11],
    ["enum A { B }\nlet 1a;\n", 2, 5],
  ];
  it("names the place of what it does not take", async () => {
    const answers = await check(Object.fromEntries(faults.map(([text], at) => [`f${at}.ts`, text])));
    const places = Object.values(answers).map((answer) =>
      answer?.kind === "fault" ? [answer.fault.line, answer.fault.column] : answer?.kind,
    );
    assert.deepEqual(
      places,
      faults.map(([, line, column]) => [line, column]),
      JSON.stringify(answers),
    );
  });

  it("runs nothing, and does not judge declarations", async () => {
    using dir = new TempDir();
    fs.writeFileSync(dir.at("a.ts"), `require("fs").writeFileSync(${JSON.stringify(dir.at("ran"))}, "")\n`);
    fs.writeFileSync(dir.at("b.d.ts"), "const a: number;\nexport default a;\n");
    const result = await createTypeStrip().check([dir.at("a.ts"), dir.at("b.d.ts")], never);
    assert.deepEqual(fs.readdirSync(dir.path).toSorted(), ["a.ts", "b.d.ts"]);
    assert.ok(result.kind === "checked");
    assert.deepEqual(
      [...result.answers.values()].map(({ kind }) => kind),
      ["ok", "unverified"],
    );
  });

  it("too deep a file is unverified, and the parser it ruins is not asked again", async () => {
    const deep = `x = ${"(".repeat(20_000)}1${")".repeat(20_000)};\n`;
    const answers = await check({
      "a.ts": "a;\n",
      "deep.ts": deep,
      "good.ts": "b;\n",
      "deeper.ts": deep,
      "bad.ts": "let : =\n",
    });
    assert.deepEqual(
      Object.values(answers).map((answer) => answer?.kind),
      ["ok", "unverified", "ok", "unverified", "fault"],
    );
  });

  it("stops when it is told to", async () => {
    using dir = new TempDir();
    fs.writeFileSync(dir.at("a.ts"), "a;\n");
    const files = Array.from({ length: 5000 }, () => dir.at("a.ts"));
    await assert.rejects(createTypeStrip().check(files, AbortSignal.timeout(1)), isAbort);
    await assert.rejects(createTypeStrip().check(files, AbortSignal.abort()), isAbort);
  });
});

describe("exact syntax of several languages", function () {
  this.timeout(600_000);
  const packs = [
    { title: "Python", extensions: [".py"], syntaxCheck: "python-compile" },
    { title: "TypeScript", extensions: [".ts"], syntaxCheck: "node-strip-types" },
    { title: "Go", extensions: [".go"] },
  ].map((pack) => ({ pack: pack as LoadedPack["pack"], templates: {} }));
  const exact = (env: Readonly<Record<string, string>>, cwd: AbsPath) =>
    exactSyntaxOf(packs, { process: createProcess(), env, cwd });
  const files = (dir: TempDir): AbsPath[] => {
    for (const [name, text] of [
      ["a.py", "x = (\n"],
      ["a.ts", "let x: = 1\n"],
      ["a.go", "{\n"],
    ] as const)
      fs.writeFileSync(dir.at(name), text);
    return ["a.py", "a.ts", "a.go"].map((name) => dir.at(name));
  };

  it("each file goes to the compiler of its language", async () => {
    using dir = new TempDir();
    const all = exact({ PATH: process.env["PATH"] ?? "" }, dir.path);
    assert.deepEqual(all.extensions, [".py", ".ts"]);
    const result = await all.syntax.check(files(dir), never);
    assert.ok(result.kind === "checked");
    assert.match(result.by, /^Python 3\..*, the TypeScript parser of Node/);
    assert.deepEqual(
      [...result.answers.values()].map(({ kind }) => kind),
      ["fault", "fault"],
    );
    assert.equal(result.gaps, undefined);
  });

  it("a language without its compiler is named, the other is verified", async () => {
    using dir = new TempDir();
    const [py, ts] = files(dir);
    const { syntax } = exact({ PATH: dir.path }, dir.path);
    const both = await syntax.check([py ?? dir.path, ts ?? dir.path], never);
    assert.ok(both.kind === "checked");
    assert.deepEqual([[...both.answers.keys()], both.gaps], [[ts], ["Python: python3 was not found"]]);
    assert.deepEqual(await syntax.check([py ?? dir.path], never), {
      kind: "not-verified",
      why: "Python: python3 was not found",
    });
    assert.deepEqual(await syntax.check([], never), { kind: "checked", by: "", answers: new Map() });
  });
});
