import assert from "node:assert/strict";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { isOrchError } from "../../shared/model/error.ts";
import { runShort, type ShortEnd } from "../../shared/runner/client.ts";

/** A killed process may be a zombie for a while: nobody may have waited for it yet. */
async function isGone(pid: number): Promise<boolean> {
  const until = performance.now() + 5000;
  while (performance.now() < until) {
    try {
      process.kill(pid, 0);
    } catch {
      return true;
    }
    const stat = await readFile(`/proc/${pid}/stat`, "utf8").catch(() => "");
    if (/\) Z /.test(stat)) return true;
    await setTimeout(20);
  }
  return false;
}

describe("a short command", () => {
  let folder = "";
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), "orch-short-"));
  });
  after(() => rm(folder, { recursive: true, force: true }));

  async function run(
    program: string,
    options: { readonly timeoutMs?: number; readonly signal?: AbortSignal; readonly stdin?: string } = {},
  ): Promise<ShortEnd> {
    const entry = join(folder, "program.mjs");
    await writeFile(entry, program);
    const starter = { entry, execPath: process.execPath, env: { PATH: process.env["PATH"] ?? "" } };
    const args = ["scan", "--json"];
    const stdin = options.stdin === undefined ? {} : { stdin: options.stdin };
    const order = { starter, args, cwd: folder, timeoutMs: options.timeoutMs ?? 15_000, ...stdin };
    return runShort(order, options.signal ?? new AbortController().signal);
  }

  it("hands back code and output, whole", async () => {
    const end = await run(
      `process.stdout.write("x".repeat(300_000)); process.stderr.write(process.argv[2]); process.exitCode = 3;`,
    );
    assert.deepEqual(
      { ...end, stdout: end.stdout.length },
      { kind: "exited", code: 3, stdout: 300_000, stderr: "scan" },
    );
  });

  it("ends although a child holds its output open", async () => {
    const hold = `import { spawn } from "node:child_process";
      const child = spawn(process.execPath, ["-e", "setTimeout(() => {}, 60_000)"], { stdio: "inherit" });
      process.stdout.write(String(child.pid), () => process.exit(0));`;
    const end = await run(hold);
    assert.equal(end.kind, "exited");
    process.kill(Number(end.stdout), "SIGKILL");
  });

  it("is ended with its children when time is up, or when nobody wants it any more", async () => {
    const forever = `import { spawn } from "node:child_process";
      const child = spawn(process.execPath, ["-e", "setInterval(() => {}, 1000)"], { stdio: "ignore" });
      process.stdout.write(String(child.pid)); setInterval(() => {}, 1000);`;
    // On a busy machine it may take longer than that until it has a child at all.
    let late = await run(forever, { timeoutMs: 700 });
    for (let ms = 1400; late.stdout === "" && ms < 50_000; ms *= 2) late = await run(forever, { timeoutMs: ms });
    assert.equal(late.kind, "timed-out");
    assert.equal(await isGone(Number(late.stdout)), true);
    const cancelled = await run(forever, { signal: AbortSignal.timeout(700) });
    assert.equal(cancelled.kind, "cancelled");
  });

  it("hands words over on standard input, also to one that does not read them", async () => {
    const echo = `import { text } from "node:stream/consumers"; process.stdout.write(await text(process.stdin));`;
    const words = "a".repeat(300_000);
    assert.equal((await run(echo, { stdin: words })).stdout.length, 300_000);
    assert.equal((await run(echo)).stdout, "");
    assert.equal((await run("process.exit(4);", { stdin: words })).kind, "exited");
  });

  it("refuses when the bundle is missing", async () => {
    const starter = { entry: join(folder, "none.mjs"), execPath: process.execPath, env: {} };
    const started = runShort({ starter, args: [], cwd: folder, timeoutMs: 1000 }, new AbortController().signal);
    await assert.rejects(started, (error) => isOrchError(error, "env.no-runner"));
  });
});
