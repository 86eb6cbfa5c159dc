import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import fs from "node:fs";
import path from "node:path";
import { createClock } from "../../../shared/adapters/clock.ts";
import { createFiles } from "../../../shared/adapters/files.ts";
import { createRedactor } from "../../../shared/adapters/redact.ts";
import { createRunLogs } from "../../../shared/adapters/run-log.ts";
import { absPath, type AbsPath } from "../../../shared/base/paths.ts";
import { foldRun } from "../../../shared/events/reduce.ts";
import { isOrchError } from "../../../shared/model/error.ts";
import type { NewEvent, ParsedEvent } from "../../../shared/model/event.ts";
import type { RunLogs } from "../../../shared/ports/run-log.ts";
import { FakeClock } from "../../support/fake-clock.ts";
import { TempDir } from "../../support/temp-dir.ts";

const run = "r-20260131-101500-ab12";
const note = (text: string): NewEvent => ({ type: "progress.noted", text });
const started: NewEvent = { type: "run.started", command: "do", title: "do", host: "cli", version: "0", pid: 1 };

function logs(secrets: readonly string[] = []): RunLogs {
  return createRunLogs({ clock: new FakeClock(), files: createFiles(), redactor: createRedactor(secrets) });
}

const texts = (events: readonly ParsedEvent[]): unknown[] =>
  events.map((row) =>
    row.kind === "event" && row.event.type === "progress.noted"
      ? row.event.text
      : row.kind === "event"
        ? row.event.type
        : row.kind,
  );

async function refusal(work: () => unknown): Promise<string> {
  try {
    await work();
  } catch (error) {
    if (isOrchError(error)) return `${error.code}: ${error.message}`;
    throw error;
  }
  return "no refusal";
}

describe("run log", function () {
  this.timeout(600_000);
  let dir: TempDir;
  let at: AbsPath;
  beforeEach(() => {
    dir = new TempDir();
    at = dir.at(run);
  });
  afterEach(() => dir[Symbol.dispose]());
  const file = (): string => path.join(at, "events.jsonl");

  it("appends contiguous events and goes on where it stopped", async () => {
    const first = await logs().open(run, at);
    first.append(started);
    first.append(note("a"));
    first[Symbol.dispose]();
    const second = await logs().open(run, at);
    second.append(note("b"));
    assert.deepEqual(texts(second.history()), ["run.started", "a", "b"]);
    second[Symbol.dispose]();
    const lines = fs
      .readFileSync(file(), "utf8")
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line) as { seq: number; v: number; run: string });
    assert.deepEqual(
      lines.map(({ seq, v, run: of }) => [seq, v, of]),
      [
        [1, 1, run],
        [2, 1, run],
        [3, 1, run],
      ],
    );
    assert.throws(() => second.append(note("late")), /closed/);
    assert.deepEqual(fs.readdirSync(at), ["events.jsonl"]);
  });

  it("folders are 0700, files 0600, sidecars carry size and hash", async () => {
    using log = await logs().open(run, at);
    const sidecar = await log.sidecar("Invoice/attempt-1/diff.patch", new Uint8Array([1, 2, 255]));
    log.append(note("x"));
    const mode = (...parts: readonly string[]): number => fs.statSync(path.join(at, ...parts)).mode & 0o777;
    assert.deepEqual(sidecar, {
      path: "Invoice/attempt-1/diff.patch",
      bytes: 3,
      sha256: createHash("sha256")
        .update(new Uint8Array([1, 2, 255]))
        .digest("hex"),
    });
    assert.deepEqual(
      [
        mode(),
        mode("Invoice"),
        mode("Invoice", "attempt-1"),
        mode("Invoice", "attempt-1", "diff.patch"),
        mode("events.jsonl"),
      ],
      [0o700, 0o700, 0o700, 0o600, 0o600],
    );
  });

  for (const bad of ["../out", "/etc/x", "a/../../b", "", "a\0b"]) {
    it(`a sidecar never leaves the folder: ${JSON.stringify(bad)}`, async () => {
      using log = await logs().open(run, at);
      assert.match(await refusal(() => log.sidecar(bad, "x")), /^path.refused/);
    });
  }

  it("a folder that became a link does not lead a sidecar out", async () => {
    using log = await logs().open(run, at);
    fs.mkdirSync(dir.at("out"));
    fs.symlinkSync(dir.at("out"), path.join(at, "Invoice"));
    assert.match(await refusal(() => log.sidecar("Invoice/report.json", "{}")), /^path.refused/);
    assert.deepEqual(fs.readdirSync(dir.at("out")), []);
  });

  it("secrets are taken out before anything is written; bytes stay as they are", async () => {
    const secret = "hunter2-and-more";
    using log = await logs([secret]).open(run, at);
    log.append({
      type: "command.finished",
      ok: true,
      code: 0,
      summary: `used ${secret}`,
      next: [],
      data: { [secret]: [{ deep: `x${secret}y` }] },
    });
    const written = await log.sidecar("log.txt", `Authorization: Bearer ${"a1".repeat(20)}\n${secret}\n`);
    const raw = Buffer.from(`patch ${secret}`);
    await log.sidecar("diff.patch", raw);
    assert.equal(fs.readFileSync(file(), "utf8").includes(secret), false);
    assert.equal(JSON.stringify(log.history()).includes(secret), false);
    assert.equal(fs.readFileSync(path.join(at, "log.txt"), "utf8"), "Authorization: Bearer [redacted]\n[redacted]\n");
    assert.equal(written.bytes, fs.statSync(path.join(at, "log.txt")).size);
    assert.deepEqual(fs.readFileSync(path.join(at, "diff.patch")), raw);
  });

  it("a tail torn at any byte of the last line is cut, multi-byte characters included", async () => {
    const whole = await logs().open(run, at);
    whole.append(started);
    whole.append(note("kept"));
    whole.append(note("torn é 漢 🙂 end"));
    whole[Symbol.dispose]();
    const bytes = fs.readFileSync(file());
    const from = bytes.lastIndexOf(0x0a, bytes.length - 2) + 1;
    for (let size = from; size < bytes.length; size += 1) {
      fs.writeFileSync(file(), bytes.subarray(0, size));
      using log = await logs().open(run, at);
      assert.deepEqual(texts(log.history()), ["run.started", "kept"], `cut at ${size}`);
      log.append(note("next"));
      const lines = fs.readFileSync(file(), "utf8").split("\n");
      assert.deepEqual(
        [lines.length, (JSON.parse(lines[2] ?? "") as { text: string }).text, lines[3]],
        [4, "next", ""],
        `cut at ${size}`,
      );
    }
    fs.writeFileSync(file(), bytes);
    using log = await logs().open(run, at);
    assert.deepEqual(texts(log.history()), ["run.started", "kept", "torn é 漢 🙂 end"]);
  });

  it("zeros that a power cut left behind the last line are a torn tail", async () => {
    const first = await logs().open(run, at);
    first.append(note("a"));
    first[Symbol.dispose]();
    fs.appendFileSync(file(), Buffer.alloc(4096));
    using second = await logs().open(run, at);
    assert.deepEqual(texts(second.history()), ["a"]);
  });

  const damaged: readonly { readonly name: string; readonly line: string; readonly is: RegExp }[] = [
    { name: "no JSON", line: "{oops", is: /events\.jsonl:2: not JSON$/ },
    {
      name: "a gap",
      line: JSON.stringify({ v: 1, run, seq: 3, at: 1, type: "progress.noted", text: "x" }),
      is: /events\.jsonl:2: event 3 follows event 1$/,
    },
    {
      name: "another Orch's version",
      line: JSON.stringify({ v: 2, run, seq: 2, at: 1, type: "progress.noted", text: "x" }),
      is: /events\.jsonl:2: written by another Orch/,
    },
  ];
  for (const row of damaged) {
    it(`a whole line that is ${row.name} is refused and kept`, async () => {
      const first = await logs().open(run, at);
      first.append(note("a"));
      first[Symbol.dispose]();
      fs.appendFileSync(file(), `${row.line}\n`);
      const before = fs.readFileSync(file());
      assert.match(await refusal(() => logs().open(run, at)), row.is);
      assert.deepEqual(fs.readFileSync(file()), before);
    });
  }

  it("an event that could not be read back is a bug, and is not written", async () => {
    using log = await logs().open(run, at);
    log.append(note("a"));
    const bad: NewEvent = { type: "attempt.finished", contract: "B", attempt: 1, durationMs: Number.NaN };
    assert.throws(() => log.append(bad), /cannot be read back/);
    log.append(note("b"));
    assert.deepEqual(texts(log.history()), ["a", "b"]);
  });

  it("an event of a newer Orch is kept", async () => {
    const first = await logs().open(run, at);
    first.append(note("a"));
    first[Symbol.dispose]();
    fs.appendFileSync(file(), `${JSON.stringify({ v: 1, run, seq: 2, at: 1, type: "moon.phased", phase: "full" })}\n`);
    using second = await logs().open(run, at);
    second.append(note("b"));
    assert.deepEqual(texts(second.history()), ["a", "unknown", "b"]);
  });

  it("100,000 events are written, replayed and folded @slow", async function () {
    this.timeout(600_000);
    const first = await createRunLogs({
      clock: createClock(),
      files: createFiles(),
      redactor: createRedactor(["0123456789abcdef"]),
    }).open(run, at);
    first.append(started);
    for (let i = 0; i < 99_999; i += 1)
      first.append(
        note(
          `step ${i} of a run that goes on for a very long time, with a text of usual length in every single one of its events`,
        ),
      );
    first[Symbol.dispose]();
    const began = performance.now();
    using second = await logs().open(run, at);
    const state = foldRun(run, second.history());
    const tookMs = performance.now() - began;
    assert.deepEqual([state.seq, state.faults], [100_000, []]);
    assert.ok(tookMs < 10_000, `replay took ${tookMs} ms`);
  });

  it("a full disk loses nothing that was told: whole lines, then room for the last words, then it goes on @root", async function () {
    // A file system of its own is the only honest full disk. Root can make one; where there is no root there is none.
    if (process.getuid?.() !== 0) this.skip();
    const mount = dir.at("disk");
    fs.mkdirSync(mount);
    execFileSync("/bin/mount", ["-t", "tmpfs", "-o", "size=256k", "tmpfs", mount]);
    try {
      const small = absPath(path.join(mount, run));
      const log = await logs().open(run, small);
      log.append(started);
      let said = "";
      let sent = 1;
      for (; sent < 5000 && said === ""; sent += 1)
        said = await refusal(() => log.append(note(`${sent} ${"é".repeat(300)}`))).then((text) =>
          text === "no refusal" ? "" : text,
        );
      assert.match(said, /^env.disk-full: The disk is full/);
      const told = log.history().length;
      assert.equal(told, sent - 1);
      log.append({ type: "run.parked", why: "The disk is full", hint: "Free some space" });
      assert.match(await refusal(() => log.sidecar("big.txt", "x".repeat(400_000))), /^env.disk-full/);
      log[Symbol.dispose]();
      fs.rmSync(path.join(small, "big.txt"), { force: true });
      const leftovers = fs.readdirSync(small).filter((name) => name !== "events.jsonl");
      assert.deepEqual(leftovers, []);
      execFileSync("/bin/mount", ["-o", "remount,size=2m", mount]);
      using again = await logs().open(run, small);
      again.append(note("goes on"));
      assert.deepEqual(
        [again.history().length, texts(again.history()).slice(-2)],
        [told + 2, ["run.parked", "goes on"]],
      );
    } finally {
      execFileSync("/bin/umount", [mount]);
    }
  });
});
