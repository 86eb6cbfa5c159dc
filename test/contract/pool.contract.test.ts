import assert from "node:assert/strict";
import fs from "node:fs";
import { createThreadPool, type ThreadPoolOptions } from "../../shared/adapters/pool-threads.ts";
import { isAbort } from "../../shared/base/abort.ts";
import { absPath } from "../../shared/base/paths.ts";
import type { AuditFile, FileAnswer, RuleSettings } from "../../shared/ports/pool.ts";
import { installedRules, oneRule } from "../support/rulebook.ts";
import { sourceRoot } from "../support/source-root.ts";
import { TempDir } from "../support/temp-dir.ts";

const never = new AbortController().signal;
const pool = (options: Partial<ThreadPoolOptions> = {}): ReturnType<typeof createThreadPool> =>
  createThreadPool({ installRoot: absPath(sourceRoot), ...options });

const told = (answers: readonly FileAnswer[]): string[] =>
  answers.map(
    (answer) =>
      `${answer.path}: ${answer.kind === "audited" ? answer.findings.map(({ rule, line }) => `${rule}@${line}`).join() : answer.why}`,
  );

function write(dir: TempDir, files: Readonly<Record<string, string | Uint8Array>>): AuditFile[] {
  return Object.entries(files).map(([path, data]) => {
    fs.writeFileSync(dir.at(path), data);
    return { path, at: dir.at(path) };
  });
}

/** Takes for ever on a long run of a: the thread cannot be asked to stop, only ended. */
const stalling: RuleSettings = oneRule({ kind: "line", pattern: "^(a+)+$" });

describe("pool of audit threads", function () {
  this.timeout(600_000);

  it("answers for every file, in order, whatever it holds", async () => {
    using dir = new TempDir();
    const files = write(dir, {
      "good.py": "x = 1\n",
      "bad.py": "def f(a=[]):\n    return a\n",
      "crlf.py": "x = 1 \r\ny = x == None\r\n",
      "bom.py": "\uFEFFx = 1\n",
      "latin.py": Uint8Array.from([0x78, 0x20, 0x3d, 0x20, 0x27, 0xe9, 0xff, 0x27, 0x0a]),
      "binary.py": Uint8Array.from([0x78, 0, 1, 2]),
      "empty.py": "",
      "broken.py": "def (:\n",
      "huge.py": "x = 1\n".repeat(1_600_000),
    });
    fs.symlinkSync("good.py", dir.at("link.py"));
    fs.symlinkSync("loop.py", dir.at("loop.py"));
    fs.mkdirSync(dir.at("folder.py"));
    const more = ["link.py", "loop.py", "folder.py", "gone.py"].map((path) => ({ path, at: dir.at(path) }));
    await using threads = pool();
    const answers = await threads.audit({ sources: installedRules(), switches: {} }, [...files, ...more], never);
    assert.deepEqual(
      told(answers).map((line) => line.replace(/ENOENT.*/, "ENOENT")),
      [
        "good.py: ",
        "bad.py: py.mutable-default@1",
        "crlf.py: pep8.W291@1,pep8.E711@2",
        "bom.py: ",
        "latin.py: ",
        "binary.py: binary",
        "empty.py: ",
        "broken.py: py.brackets@1",
        "huge.py: larger than 8 MiB",
        "link.py: a symbolic link",
        "loop.py: a symbolic link",
        "folder.py: not a plain file",
        "gone.py: ENOENT",
      ],
    );
  });

  it("two threads answer what one answers", async () => {
    using dir = new TempDir();
    const files = write(
      dir,
      Object.fromEntries(Array.from({ length: 130 }, (_, i) => [`f${i}.py`, `x = ${i} == None\n`.repeat(i % 5)])),
    );
    const settings = { sources: installedRules(), switches: {} };
    await using one = pool({ threads: 1 });
    await using both = pool({ threads: 2 });
    const [first, second] = [await one.audit(settings, files, never), await both.audit(settings, files, never)];
    assert.deepEqual(first, second);
    assert.equal(first.flatMap((answer) => (answer.kind === "audited" ? answer.findings : [])).length, 260);
  });

  it("other settings give other findings on the same threads", async () => {
    using dir = new TempDir();
    const files = write(dir, { "a.py": "foo\n" });
    await using threads = pool();
    const of = async (pattern: string): Promise<string[]> =>
      told(await threads.audit(oneRule({ kind: "line", pattern }), files, never));
    assert.deepEqual(
      [await of("foo"), await of("bar"), await of("fo+")],
      [["a.py: t.rule@1"], ["a.py: "], ["a.py: t.rule@1"]],
    );
  });

  it("a file that stalls its thread is given up, the others are answered", async () => {
    using dir = new TempDir();
    const files = write(dir, { "a.py": "a\n", "stall.py": `${"a".repeat(60)}!\n`, "c.py": "aa\n", "d.py": "b\n" });
    await using threads = pool({ stallMs: 10_000 });
    assert.deepEqual(told(await threads.audit(stalling, files, never)), [
      "a.py: t.rule@1",
      "stall.py: the check took too long",
      "c.py: t.rule@1",
      "d.py: ",
    ]);
  });

  it("an abort ends the threads at once and rejects", async () => {
    using dir = new TempDir();
    const files = write(dir, { "stall.py": `${"a".repeat(60)}!\n` });
    await using threads = pool();
    const started = performance.now();
    await assert.rejects(threads.audit(stalling, files, AbortSignal.timeout(300)), isAbort);
    assert.ok(performance.now() - started < 5000);
    assert.deepEqual(told(await threads.audit(oneRule({ kind: "line", pattern: "x" }), files, never)), ["stall.py: "]);
  });

  it("idle threads end, and the next audit starts new ones", async () => {
    using dir = new TempDir();
    const files = write(dir, { "a.py": "foo\n" });
    await using threads = pool({ idleMs: 1 });
    const settings = oneRule({ kind: "line", pattern: "foo" });
    for (let round = 0; round < 3; round += 1) {
      assert.deepEqual(told(await threads.audit(settings, files, never)), ["a.py: t.rule@1"]);
      await new Promise((resolve) => setImmediate(resolve));
    }
  });
});
