import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import fs from "node:fs";
import { isTornName, tornName } from "../../../shared/adapters/disk-names.ts";
import { createFiles } from "../../../shared/adapters/files.ts";
import { isOrchError } from "../../../shared/model/error.ts";
import { TempDir } from "../../support/temp-dir.ts";

const files = createFiles();

async function code(work: Promise<unknown>): Promise<string> {
  try {
    return JSON.stringify(await work) ?? "undefined";
  } catch (error) {
    if (isOrchError(error)) return error.code;
    throw error;
  }
}

describe("files", () => {
  let dir: TempDir;
  beforeEach(() => (dir = new TempDir("orch files ünï ")));
  afterEach(() => dir[Symbol.dispose]());
  const mode = (name: string): string => (fs.statSync(dir.at(name)).mode & 0o7777).toString(8);
  const names = (): string[] => fs.readdirSync(dir.path).toSorted();

  it("a name as long as the disk allows is written and written anew, and nothing is left beside it", async () => {
    for (const name of ["a".repeat(255), `${"明".repeat(84)}.py`, `${"🙂".repeat(63)}.p`]) {
      await files.write(dir.at(name), "old");
      await files.write(dir.at(name), "new");
      assert.equal(await files.readText(dir.at(name)), "new");
      assert.deepEqual(names(), [name]);
      const torn = tornName(name);
      assert.ok(Buffer.byteLength(torn) <= 255, torn);
      assert.deepEqual([isTornName(torn, name), isTornName(torn), isTornName(torn, "b.py")], [true, true, false]);
      fs.rmSync(dir.at(name));
    }
  });

  it("what is not there is undefined, also behind a file or an empty link", async () => {
    fs.writeFileSync(dir.at("file"), "x");
    fs.symlinkSync("nowhere", dir.at("dangling"));
    assert.deepEqual(
      [
        await files.read(dir.at("gone")),
        await files.readText(dir.at("file", "below")),
        await files.stat(dir.at("gone")),
        await files.list(dir.at("gone")),
        await files.list(dir.at("file")),
        await files.realPath(dir.at("dangling")),
        await files.readLink(dir.at("file")),
        await files.readText(dir.at("dangling")),
      ],
      Array.from({ length: 8 }, () => undefined),
    );
  });

  it("reads bytes and text as they are", async () => {
    fs.writeFileSync(dir.at("a"), Buffer.from([0xef, 0xbb, 0xbf, 0x61, 0x0d, 0x0a]));
    assert.deepEqual([await files.readText(dir.at("a")), (await files.read(dir.at("a")))?.length], ["\uFEFFa\r\n", 6]);
  });

  it("what never ends or never begins is refused, also behind a link, and is not written over", async function () {
    if (process.platform === "win32") this.skip();
    execFileSync("mkfifo", [dir.at("pipe")]);
    fs.symlinkSync("pipe", dir.at("link"));
    fs.symlinkSync("/dev/zero", dir.at("zero"));
    const results = await Promise.all([
      ...["pipe", "link", "zero"].flatMap((name) => [files.read(dir.at(name)), files.readText(dir.at(name))]).map(code),
      ...["pipe", "link"].map((name) => code(files.write(dir.at(name), "x"))),
    ]);
    assert.deepEqual([...new Set(results)], ["path.refused"]);
    assert.deepEqual(names(), ["link", "pipe", "zero"]);
    assert.equal(fs.statSync(dir.at("link")).isFIFO(), true);
  });

  it("stat and list do not follow links, list is sorted by code unit", async () => {
    for (const name of ["b", "B", "a", "é"]) fs.writeFileSync(dir.at(name), name);
    fs.symlinkSync("a", dir.at("link"));
    fs.mkdirSync(dir.at("folder"));
    assert.deepEqual(
      (await files.list(dir.path))?.map(({ name, kind }) => `${name}:${kind}`),
      ["B:file", "a:file", "b:file", "folder:directory", "link:symlink", "é:file"],
    );
    assert.deepEqual(
      [(await files.stat(dir.at("link")))?.kind, (await files.stat(dir.at("a")))?.sizeBytes],
      ["symlink", 1],
    );
  });

  it("a write keeps the mode, goes through a link, and leaves nothing beside it", async () => {
    fs.writeFileSync(dir.at("script"), "old", { mode: 0o755 });
    fs.writeFileSync(dir.at("target"), "old", { mode: 0o640 });
    fs.mkdirSync(dir.at("sub"));
    fs.symlinkSync("../target", dir.at("sub", "link"));
    fs.symlinkSync("later", dir.at("first"));
    await files.write(dir.at("script"), "new");
    await files.write(dir.at("sub", "link"), new Uint8Array([1, 2]));
    await files.write(dir.at("first"), "made");
    await files.write(dir.at("secret"), "s", { mode: 0o600 });
    assert.deepEqual(
      [
        fs.readFileSync(dir.at("script"), "utf8"),
        mode("script"),
        fs.readFileSync(dir.at("target")).length,
        mode("target"),
        fs.readlinkSync(dir.at("sub", "link")),
        fs.readFileSync(dir.at("later"), "utf8"),
        mode("secret"),
      ],
      ["new", "755", 2, "640", "../target", "made", "600"],
    );
    assert.deepEqual(names(), ["first", "later", "script", "secret", "sub", "target"]);
  });

  it("a reader sees the old file or the new one, never a part", async () => {
    const at = dir.at("big");
    const version = (letter: string): string => letter.repeat(300_000);
    await files.write(at, version("a"));
    const seen = new Set<string>();
    const writing = (async () => {
      for (const letter of ["b", "c", "d", "e", "f"]) await files.write(at, version(letter));
    })();
    let done = false;
    void writing.finally(() => (done = true));
    while (!done) {
      const text = (await files.readText(at)) ?? "gone";
      seen.add(text === version(text[0] ?? "") ? "whole" : "part");
    }
    await writing;
    assert.deepEqual([...seen], ["whole"]);
  });

  it("a failed write leaves the old file and nothing beside it", async () => {
    fs.mkdirSync(dir.at("folder"));
    fs.symlinkSync("round", dir.at("trip"));
    fs.symlinkSync("trip", dir.at("round"));
    assert.deepEqual(
      [await code(files.write(dir.at("folder"), "x")), await code(files.write(dir.at("trip"), "x"))],
      ["path.refused", "path.refused"],
    );
    assert.deepEqual(names(), ["folder", "round", "trip"]);
  });

  it("of many who create the same file once, one wins and its bytes stand", async () => {
    const wins = await Promise.all(
      Array.from({ length: 20 }, (_, i) => files.createOnce(dir.at("reply"), `from ${i}`)),
    );
    const winner = wins.indexOf(true);
    assert.deepEqual(
      [wins.filter(Boolean).length, fs.readFileSync(dir.at("reply"), "utf8"), names()],
      [1, `from ${winner}`, ["reply"]],
    );
  });

  it("removes, renames, links, changes modes", async () => {
    await files.makeDir(dir.at("a", "b"), { mode: 0o700 });
    fs.writeFileSync(dir.at("a", "b", "f"), "x");
    assert.deepEqual(
      [await files.removeEmptyDir(dir.at("a")), await files.removeEmptyDir(dir.at("gone")), mode("a/b")],
      [false, false, "700"],
    );
    await files.rename(dir.at("a", "b", "f"), dir.at("g"));
    assert.equal(await files.removeEmptyDir(dir.at("a", "b")), true);
    await files.symlink("g", dir.at("l"));
    await files.chmod(dir.at("g"), 0o444);
    assert.deepEqual([await files.readLink(dir.at("l")), mode("g")], ["g", "444"]);
    await files.remove(dir.at("a"));
    await files.remove(dir.at("never was"));
    assert.deepEqual(names(), ["g", "l"]);
    await files.remove(dir.at("l"));
    assert.deepEqual(names(), ["g"]);
  });

  it("a path that the system refuses is a refusal that names it", async () => {
    const long = dir.at("n".repeat(300));
    assert.equal(await code(files.write(long, "x")), "path.refused");
    await assert.rejects(
      files.write(long, "x"),
      (error) => isOrchError(error, "path.refused") && error.message.startsWith(long),
    );
  });

  it("links a folder, and leaves what stands in the way", async () => {
    fs.mkdirSync(dir.at("folder"));
    fs.writeFileSync(dir.at("folder", "file"), "x");
    assert.equal(await files.linkFolder(dir.at("folder"), dir.at("link")), true);
    assert.equal(fs.readFileSync(dir.at("link", "file"), "utf8"), "x");
    fs.writeFileSync(dir.at("taken"), "mine");
    assert.deepEqual(
      [
        await files.linkFolder(dir.at("folder"), dir.at("link")),
        await files.linkFolder(dir.at("folder"), dir.at("taken")),
      ],
      [false, false],
    );
    assert.equal(fs.readFileSync(dir.at("taken"), "utf8"), "mine");
  });
});
