import assert from "node:assert/strict";
import fs from "node:fs";
import { createFiles } from "../../../shared/adapters/files.ts";
import { createLocks } from "../../../shared/adapters/lock.ts";
import { createRunStore } from "../../../shared/adapters/run-store.ts";
import { absPath } from "../../../shared/base/paths.ts";
import { isOrchError } from "../../../shared/model/error.ts";
import { runsDir, stateRunsDir } from "../../../shared/model/run-place.ts";
import type { RunStore } from "../../../shared/ports/run-store.ts";
import { TempDir } from "../../support/temp-dir.ts";

describe("run store", () => {
  let dir: TempDir;
  let store: RunStore;
  beforeEach(() => {
    dir = new TempDir();
    const locks = createLocks({ startTimeOf: () => "s" });
    store = createRunStore({
      files: createFiles(),
      locks,
      dirs: [runsDir(dir.path), stateRunsDir(dir.at("state"), dir.path)],
    });
  });
  afterEach(() => dir[Symbol.dispose]());

  const folder = (run: string): string => {
    const at = dir.at(".orch", "runs", run);
    fs.mkdirSync(at, { recursive: true });
    return at;
  };

  it("lists both places, newest first, and nothing that is no run", async () => {
    for (const run of ["r-20260131-101500-ab12", "r-20260131-101501-ab13", "Invoice", "r-1"]) folder(run);
    fs.writeFileSync(dir.at(".orch", "runs", "r-20260131-101500-zzzz"), "a file");
    fs.mkdirSync(`${stateRunsDir(dir.at("state"), dir.path)}/r-20260131-101500-cd34`, { recursive: true });
    assert.deepEqual(
      (await store.list()).map(({ run }) => run),
      ["r-20260131-101501-ab13", "r-20260131-101500-cd34", "r-20260131-101500-ab12"],
    );
    const found = await Promise.all(
      ["r-20260131-101500-ab12", "ab13", "r-20260131-1015", "cd34", "", "none"].map(
        async (word) => (await store.find(word))?.run,
      ),
    );
    assert.deepEqual(found, [
      "r-20260131-101500-ab12",
      "r-20260131-101501-ab13",
      undefined,
      "r-20260131-101500-cd34",
      undefined,
      undefined,
    ]);
  });

  it("equal names of different repositories have places of their own", () => {
    const state = absPath("/state");
    const places = ["/a/repo", "/b/repo", "/b/repo "].map((root) => stateRunsDir(state, absPath(root)));
    assert.equal(new Set(places).size, 3);
    assert.match(places[0] ?? "", /^\/state\/repos\/repo-[a-z0-9]+\/runs$/);
    assert.doesNotMatch(stateRunsDir(state, absPath("/x/ré po..")), /[^\w/-]/);
  });

  it("links a contract's name to its newest run, and leaves a person's file alone", async () => {
    const first = { run: "r-20260131-101500-ab12", dir: absPath(folder("r-20260131-101500-ab12")) };
    const second = { run: "r-20260131-101501-ab13", dir: absPath(folder("r-20260131-101501-ab13")) };
    await store.link("Invoice", first);
    await store.link("Invoice", second);
    fs.mkdirSync(dir.at(".orch", "runs", "Mine"));
    await store.link("Mine", second);
    assert.equal(fs.readlinkSync(dir.at(".orch", "runs", "Invoice")), "r-20260131-101501-ab13/Invoice");
    assert.ok(fs.lstatSync(dir.at(".orch", "runs", "Mine")).isDirectory());
    assert.deepEqual(fs.readdirSync(dir.at(".orch", "runs")).toSorted(), [
      "Invoice",
      "Mine",
      "r-20260131-101500-ab12",
      "r-20260131-101501-ab13",
    ]);
  });

  it("replies stand once, and a bad id makes no file", async () => {
    const at = absPath(folder("r-20260131-101500-ab12"));
    const reply = { v: 1, id: "q-1", by: "kim", host: "cli", at: 1 } as const;
    assert.deepEqual(
      [
        await store.reply(at, { ...reply, choice: "a" }),
        await store.reply(at, { ...reply, choice: "b" }),
        (await store.readReply(at, "q-1"))?.choice,
      ],
      [true, false, "a"],
    );
    await assert.rejects(store.readReply(at, "../../x"), (error) => isOrchError(error, "reply.unknown"));
    fs.writeFileSync(`${at}/replies/q-2.json`, '{\n  "v": 1,\n  "id": 7\n}');
    await assert.rejects(
      store.readReply(at, "q-2"),
      (error) =>
        isOrchError(error, "file.invalid") && error.message.startsWith(`${at}/replies/q-2.json:3: id must be a text`),
    );
  });

  it("a runner file that is broken is as good as none", async () => {
    const at = absPath(folder("r-20260131-101500-ab12"));
    fs.writeFileSync(`${at}/runner.json`, "{");
    assert.deepEqual(
      [await store.runner(at), await store.request(at), await store.events(at), store.isAlive(at)],
      [undefined, undefined, [], false],
    );
  });
});
