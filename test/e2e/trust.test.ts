import assert from "node:assert/strict";
import { composeRepository } from "../../shared/app/compose.ts";
import { trust, type TrustLook } from "../../shared/app/handlers/trust.ts";
import { openSandbox } from "../../shared/app/open-sandbox.ts";
import { sandboxed } from "../../shared/app/sandbox.ts";
import { requireTrust } from "../../shared/app/trust.ts";
import { absPath, repoPath } from "../../shared/base/paths.ts";
import type { DiffView, Notice } from "../../shared/ports/editor.ts";
import { args, type Bench, makeBench, refused } from "../support/bench.ts";
import { sourceRoot } from "../support/source-root.ts";

const never = new AbortController().signal;
const config = repoPath(".orch/config.json") ?? assert.fail("no path");

/** A bench nobody has trusted yet, whose editor also remembers what it was shown. */
async function unseen(): Promise<{ readonly bench: Bench; readonly shown: DiffView[]; readonly told: Notice[] }> {
  const bench = await makeBench({ files: { "README.md": "# shop\n", [config]: '{"features":{"push":false}}\n' } });
  await bench.distrust();
  const shown: DiffView[] = [];
  const told: Notice[] = [];
  bench.context.editor.showDiff = (diff) => Promise.resolve(void shown.push(diff));
  bench.context.editor.notify = (notice) => void told.push(notice);
  return { bench, shown, told };
}

describe("e2e: trust", () => {
  it("is asked once, with every file that would take effect shown, and recorded", async () => {
    const { bench, shown } = await unseen();
    await using _end = bench;
    bench.answer({ choice: "trust", by: "person" });
    await requireTrust(bench.context, "implementing runs its tests", never);
    await requireTrust(bench.context, "implementing runs its tests", never);
    assert.deepEqual(
      [bench.asked.map(({ title }) => title), shown.map(({ path, left, right }) => [path, left, right])],
      [["Trust this repository? implementing runs its tests"], [[config, "", '{"features":{"push":false}}\n']]],
    );
    assert.equal(await bench.context.trust.mayRunCode(), true);
  });

  it("is asked again after a change, shown as what changed; not accepted it has no effect and the work goes on", async () => {
    const { bench, shown, told } = await unseen();
    await using _end = bench;
    await bench.context.trust.grant(await bench.context.trust.state());
    await bench.repo.write(config, '{"features":{"push":true}}\n');
    bench.answer({ choice: "no", by: "person" });
    await requireTrust(bench.context, "merging runs its tests", never);
    assert.deepEqual(
      [bench.asked.length, shown.map(({ left, right }) => [left, right]), told.map(({ text }) => text)],
      [
        1,
        [['{"features":{"push":false}}\n', '{"features":{"push":true}}\n']],
        [`not trusted, so without effect: ${config}`],
      ],
    );
    assert.equal(await bench.context.trust.trustedFile(config), undefined);
    bench.answer({ choice: "trust", by: "person" });
    await requireTrust(bench.context, "merging runs its tests", never);
    assert.notEqual(await bench.context.trust.trustedFile(config), undefined);
  });

  it("the answer about settings takes nothing back that it did not show: trusted contracts stay so", async () => {
    const { bench, shown } = await unseen();
    await using _end = bench;
    const { trust: store } = bench.context;
    const contract = repoPath(".orch/contracts/T1.json") ?? assert.fail("no path");
    await bench.repo.write(contract, '{"id":"T1"}\n');
    const seen = await store.state();
    await store.grant(seen);
    await bench.repo.write(config, '{"features":{"push":true}}\n');
    bench.answer({ choice: "trust", by: "person" });
    await requireTrust(bench.context, "implementing runs its tests", never);
    assert.deepEqual(
      shown.map(({ path }) => path),
      [config],
    );
    assert.notEqual(await store.trustedFile(config), undefined);
    assert.notEqual(await store.trustedFile(contract), undefined);
    // A whole look that finds it changed does take it back.
    await bench.repo.write(contract, '{"id":"T1","title":"other"}\n');
    assert.equal(await store.trustedFile(contract), undefined);
  });

  it("--dry-run says what waits, with what was trusted before, and trusts nothing", async () => {
    const { bench } = await unseen();
    await using _end = bench;
    const look = async (): Promise<TrustLook> =>
      (await trust(bench.context, args({ dryRun: true }), never)).data as TrustLook;
    const first = await look();
    assert.deepEqual([first.trusted, first.waiting, first.gitKeys], [false, [{ path: config }], []]);
    await trust(bench.context, args({ hash: first.hash }), never);
    assert.deepEqual([(await look()).trusted, (await look()).waiting], [true, []]);
    await bench.repo.write(config, '{"features":{"push":true}}\n');
    assert.deepEqual((await look()).waiting, [{ path: config, former: '{"features":{"push":false}}\n' }]);
    assert.equal(await bench.context.trust.trustedFile(config), undefined);
    const old = await refused(trust(bench.context, args({ hash: first.hash }), never));
    assert.equal(old.code, "trust.mismatch");
  });

  it("stays untrusted without a person, whatever --yes says, and when the person says no", async () => {
    const { bench } = await unseen();
    await using _end = bench;
    const alone = await refused(trust(bench.context, args({ yes: true }), never));
    assert.deepEqual([alone.code, alone.exit], ["trust.needed", 7]);
    bench.answer({ choice: "no", by: "person" });
    for (const work of [
      () => requireTrust(bench.context, "merging runs its tests", never),
      () => trust(bench.context, args({ yes: true }), never),
    ])
      assert.equal((await refused(work())).code, "trust.needed");
    assert.equal(await bench.context.trust.mayRunCode(), false);
  });

  it("never takes settings that cannot be read: refused before anything is asked or stored", async () => {
    const { bench } = await unseen();
    await using _end = bench;
    await bench.repo.write(config, '{\n  "sandbox": "off",\n  "typo_key": 3\n}\n');
    const { hash } = await bench.context.trust.state();
    bench.answer({ choice: "trust", by: "person" });
    for (const work of [
      () => trust(bench.context, args(), never),
      () => trust(bench.context, args({ hash }), never),
      () => trust(bench.context, args({ dryRun: true }), never),
      () => requireTrust(bench.context, "merging runs its tests", never),
    ]) {
      const error = await refused(work());
      assert.deepEqual([error.code, error.exit], ["config.invalid", 5]);
      assert.match(error.message, /config\.json:3: .*typo_key/);
    }
    assert.deepEqual([bench.asked, await bench.context.trust.mayRunCode()], [[], false]);
    await bench.repo.write(config, '{"sandbox":"off"}\n');
    assert.equal((await trust(bench.context, args(), never)).ok, true);
  });

  it("granted in the middle of a command, the project's settings take effect in that command", async () => {
    const { bench } = await unseen();
    await using _end = bench;
    const { machine, editor } = bench.context;
    const { configDir, stateDir, cacheDir, version, platform } = machine;
    await using composed = await composeRepository({
      places: { installRoot: absPath(sourceRoot), configDir, stateDir, cacheDir, version, platform },
      env: bench.repo.env,
      nodePath: process.execPath,
      cwd: bench.repo.root,
      editor,
      host: { resume: () => assert.fail("no run"), changed: () => assert.fail("no run") },
      signal: never,
    });
    const { context } = composed;
    assert.equal(context.config.features.push, true, "nothing of an untrusted file counts");
    bench.answer({ choice: "trust", by: "person" });
    await requireTrust(context, "implementing runs its tests", never);
    assert.equal(context.config.features.push, false);
  });

  it("runs nothing where the settings demand a sandbox: do and merge refuse, qa audits without tests", async () => {
    await using bench = await makeBench();
    const settings = { ...bench.context.config, sandbox: "required" as const };
    const { process, machine } = bench.context;
    const bare = { process, places: machine, env: { ...machine.env, PATH: bench.repo.base } };
    const context = { ...bench.context, config: settings, sandbox: openSandbox(bare) };
    const error = await refused(requireTrust(context, "merging runs its tests", never));
    assert.deepEqual([error.code, error.exit], ["env.no-sandbox", 5]);
    assert.match(error.message, /bwrap, socat, rg not found/);
    const runner = sandboxed({ choose: () => assert.fail("looked for"), run: () => assert.fail("started") }, context);
    const pack = {} as Parameters<typeof runner.choose>[0];
    const subject = { root: bench.repo.root, tests: config, dir: config };
    assert.equal((await runner.choose(pack, subject, never)).kind, "missing-tool");
    await requireTrust({ ...context, config: { ...settings, sandbox: "off" } }, "merging runs its tests", never);
  });
});
