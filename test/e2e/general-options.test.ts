// The options that several commands take, one by one, through the built command line.
import assert from "node:assert/strict";
import { rm } from "node:fs/promises";
import { commandTable } from "../../shared/app/commands.ts";
import { parseEvent } from "../../shared/model/event.ts";
import { projectFiles } from "../support/feature-repo.ts";
import { redReply } from "../support/invoice-replies.ts";
import { cliEntry, type CliPlace, orch, orchJson } from "../support/orch-cli.ts";
import { goodStep, readyFeature, slice } from "../support/ready-feature.ts";
import { hasProgram, Tmux } from "../support/shell-place.ts";
import { makeTempRepo, type TempRepo } from "../support/temp-repo.ts";
import { treeOf } from "../support/tree-of.ts";
import { eventually } from "../support/eventually.ts";

async function plain(): Promise<{ repo: TempRepo; place: CliPlace }> {
  const repo = await makeTempRepo({ files: projectFiles });
  return { repo, place: { cwd: repo.root, env: repo.env } };
}

describe("general options @slow", function () {
  this.timeout(600_000);

  it("--json prints one document for every command that reads, refusals and wrong words included", async () => {
    const { repo, place } = await plain();
    await using _ = repo;
    const words: Readonly<Record<string, readonly string[]>> = { completion: ["bash"] };
    const readers = commandTable.filter(({ kind, name }) => kind === "read" && name !== "wait");
    const lines: readonly (readonly string[])[] = [
      ...readers.map(({ name }) => [name, ...(words[name] ?? [])]),
      ["do"],
      ["undo"],
      ["new"],
      ["frobnicate"],
      ["qa", "--frob"],
      ["reply", "q-1"],
      ["trust"],
    ];
    for (const line of lines) {
      const end = await orch(place, ...line, "--json");
      const documents = end.stdout.split("\n").filter((one) => one !== "");
      assert.equal(documents.length, 1, `${line.join(" ")}: ${end.stdout}${end.stderr}`);
      const document = JSON.parse(documents[0] ?? "");
      assert.deepEqual(
        Object.keys(document).toSorted(),
        ["code", "command", "data", "error", "next", "ok", "schema", "summary", "version"],
        line.join(" "),
      );
      assert.deepEqual([document.code, document.ok], [end.code, end.code === 0], line.join(" "));
      if (!document.ok && document.code !== 1) assert.match(document.error.hint, /\S/, line.join(" "));
      assert.equal(end.stderr, "", `${line.join(" ")}: the document is all there is`);
    }
  });

  it("--json=events prints the event lines and nothing else", async () => {
    await using made = await readyFeature();
    const end = await orch(made.work.place, "do", "--json=events");
    assert.equal(end.code, 0, end.stderr);
    const events = end.stdout
      .split("\n")
      .filter((line) => line !== "")
      .map(parseEvent);
    assert.deepEqual(
      events.filter(({ kind }) => kind !== "event"),
      [],
    );
    const types = events.flatMap((parsed) => (parsed.kind === "event" ? [parsed.event.type] : []));
    assert.deepEqual(
      [types[0], types.includes("verdict.reached"), types.includes("command.finished")],
      ["run.started", true, true],
    );
  });

  it("--verbose shows every event, --quiet only the outcome", async () => {
    const shown = async (...flags: string[]): Promise<string[]> => {
      await using made = await readyFeature();
      const end = await orch(made.work.place, "do", ...flags);
      assert.equal(end.code, 0, end.stderr);
      return end.stdout.split("\n").filter((line) => line !== "");
    };
    const [quiet, normal, verbose] = [await shown("--quiet"), await shown(), await shown("--verbose")];
    assert.equal(quiet.length, 2, quiet.join("\n"));
    assert.match(quiet[0] ?? "", /Billing\/Invoice/);
    assert.match(quiet[1] ?? "", /^Next: orch merge/);
    assert.equal(normal.length > quiet.length && verbose.length > normal.length, true);
    assert.match(verbose.join("\n"), /gate [a-z-]+: ok/);
    assert.doesNotMatch(normal.join("\n"), /gate [a-z-]+: ok/);
  });

  it("-C works in another folder, before and after the command, and refuses one that is not there", async () => {
    const { repo } = await plain();
    await using _ = repo;
    const outside: CliPlace = { cwd: repo.base, env: repo.env };
    for (const line of [
      ["-C", "repo", "scan"],
      ["scan", "-C", repo.root],
    ])
      assert.equal((await orchJson(outside, ...line)).code, 0, line.join(" "));
    const lost = await orchJson(outside, "-C", "nowhere", "scan");
    assert.deepEqual([lost.code, lost.error?.code], [5, "git.not-a-repository"]);
  });

  it("--version and --help print and end well, anywhere", async () => {
    const { repo } = await plain();
    await using _ = repo;
    const outside: CliPlace = { cwd: repo.base, env: repo.env };
    const version = await orch(outside, "--version");
    assert.deepEqual([version.code, /^\d+\.\d+\.\d+\n$/.test(version.stdout)], [0, true]);
    for (const { name } of commandTable) {
      const help = await orch(outside, name, "--help");
      assert.equal(help.code, 0, name);
      assert.match(help.stdout, new RegExp(`^Usage: orch ${name}`));
      assert.match(help.stdout, /Example:\n {2}orch /);
    }
  });

  it("--no-wait returns the run's id; wait sees its end", async () => {
    await using made = await readyFeature();
    const { place, repo } = made.work;
    const started = await orchJson(place, "do", "--no-wait");
    assert.deepEqual([started.code, started.next.length], [0, 2], JSON.stringify(started));
    assert.match(started.data.run, /^r-\d{8}-\d{6}-[a-z0-9]{4}$/);
    const ended = await orchJson(place, "wait", started.data.run, "--timeout", "60");
    assert.equal(ended.code, 0, JSON.stringify(ended));
    assert.equal(await repo.git("log", "-1", "--format=%s"), "feat: Invoice");
  });

  it("--dry-run changes nothing, for every command that has it", async () => {
    const lines: Readonly<Record<string, readonly string[]>> = {
      init: ["made/here"],
      new: ["Billing/Other", "--allow-open"],
      modify: ["Billing/Invoice", "round"],
      do: [],
      delete: ["--yes"],
      merge: [],
      undo: ["--yes"],
      move: ["Billing/Invoice", "Sales/Bill"],
      restore: [],
      clean: ["--yes"],
      run: ["T1.json"],
      trust: [],
    };
    await using made = await readyFeature();
    const { place, repo } = made.work;
    const before = await treeOf(repo);
    for (const command of commandTable.filter(({ options }) => options.includes("dry-run"))) {
      const words = lines[command.name];
      if (words === undefined) {
        assert.equal(command.name, "apply", `a line for orch ${command.name} is missing here`);
        continue;
      }
      const done = await orchJson(place, command.name, ...words, "--dry-run");
      assert.equal([0, 2, 5].includes(done.code), true, `${command.name}: ${JSON.stringify(done)}`);
      assert.deepEqual(await treeOf(repo), before, command.name);
    }
    assert.equal(made.calls.length, 0, "no model was asked");
  });

  it("--no-input never asks, on a terminal either", async function () {
    if (!hasProgram("tmux", "-V")) this.skip();
    await using made = await readyFeature();
    const { place } = made.work;
    const shown = { cwd: place.cwd, env: { ...place.env, TERM: "xterm-256color" }, run: () => Promise.resolve("") };
    const command = (flags: string): string =>
      `'${process.execPath}' '${cliEntry}' undo ${flags}; echo "end $?"; sleep 600`;
    using asking = new Tmux(shown, ["sh", "-c", command("")]);
    await eventually("the question", () => /1-2/.test(asking.screen()), 60_000);
    assert.match(asking.screen(), /\b1 branch|\bfiles?\b/);
    asking.keys("2", "Enter");
    await eventually("the end", () => /end \d/.test(asking.screen()), 60_000);
    using silent = new Tmux(shown, ["sh", "-c", command("--no-input")]);
    await eventually("the refusal", () => /end 2/.test(silent.screen()), 60_000);
    assert.match(silent.screen(), /--yes/);
  });

  it("--yes answers the confirmation, and what goes can be restored", async () => {
    await using made = await readyFeature();
    const { place, repo } = made.work;
    const needed = await orchJson(place, "undo");
    assert.deepEqual([needed.code, needed.error?.code], [2, "confirm.needed"]);
    const spec = await repo.read(`${slice}/spec.md`);
    assert.equal((await orchJson(place, "undo", "--yes")).code, 0);
    assert.equal(await repo.read(`${slice}/spec.md`), undefined);
    const list = await orchJson(place, "restore");
    const [{ id }] = list.data.entries;
    assert.match((await orchJson(place, "restore", id)).summary, /^Restored Billing\/Invoice: \d+ files, branch /);
    assert.equal(await repo.read(`${slice}/spec.md`), spec);
    const again = await orchJson(place, "restore", id);
    assert.match(again.summary, /^Billing\/Invoice is there as it was stored: nothing was changed/);
    await repo.git("reset", "-q");
    await rm(repo.path(slice, "spec.md"));
    assert.match((await orchJson(place, "restore", id)).summary, /^Restored Billing\/Invoice/);
  });

  it("--allow-open starts although another feature is open; without it the open one is named", async () => {
    await using made = await readyFeature();
    const { place, repo } = made.work;
    await repo.git("add", "-A");
    await repo.git("commit", "-q", "-m", "work");
    await repo.git("switch", "-q", "main");
    const refused = await orchJson(place, "new", "Billing/Other");
    assert.deepEqual([refused.code, refused.error?.code], [5, "branch.open"]);
    assert.match(
      `${refused.error?.message} ${refused.error?.hint}`,
      /Billing\/Invoice.*orch merge.*orch undo.*--allow-open/s,
    );
    assert.equal((await orchJson(place, "new", "Billing/Other", "--allow-open")).code, 0);
  });

  it("--max-attempts bounds the attempts; the decision says where the feedback lies", async () => {
    await using made = await readyFeature({ steps: [{ match: {}, reply: { text: redReply } }] });
    const { place } = made.work;
    const done = await orchJson(place, "do", "--max-attempts", "2");
    assert.deepEqual([done.code, done.data?.attempts?.length], [1, 2], JSON.stringify(done));
    assert.equal(made.calls.length, 2);
    assert.match(JSON.stringify(done), /orch apply r-/);
    assert.match(JSON.stringify(done), /feedback/);
  });

  it("--no-controller scaffolds a background worker", async () => {
    const { repo, place } = await plain();
    await using _ = repo;
    assert.equal((await orchJson(place, "new", "Billing/Invoice", "--no-controller")).code, 0);
    assert.deepEqual(
      [await repo.read(`${slice}/Controller.py`), typeof (await repo.read(`${slice}/Handler.py`))],
      [undefined, "string"],
    );
  });

  it("--app works in one app of the project, and an unknown one is refused with those there are", async () => {
    const { repo, place } = await plain();
    await using _ = repo;
    await repo.commit("apps", { ".features.json": '{"apps": {"web": {"features_dir": "web/features"}}}\n' });
    const refused = await orchJson(place, "new", "Billing/Invoice", "--app", "wbe");
    assert.equal(refused.code, 2);
    assert.match(refused.error?.message ?? "", /web/);
    assert.equal((await orchJson(place, "new", "Billing/Invoice", "--app", "web")).code, 0);
    assert.equal(typeof (await repo.read("web/features/Billing/Invoice/spec.md")), "string");
  });

  it("--prompt reads an existing .md file, relative to where the person stands; a slip of such a path is refused, other text is text", async () => {
    await using made = await readyFeature();
    const { place, repo } = made.work;
    await repo.write("docs/wish.md", "Round down, always.\n");
    await repo.git("add", "docs");
    const there = { ...place, cwd: repo.path("docs") };
    await orchJson(there, "do", "--prompt", "wish.md");
    assert.match(made.calls[0]?.user ?? "", /Round down, always\./);
    await using other = await readyFeature({ steps: [goodStep] });
    const slip = await orchJson(other.work.place, "do", "--prompt", "not-there.md");
    assert.deepEqual([slip.code, slip.error?.code, other.calls.length], [2, "file.missing", 0], JSON.stringify(slip));
    await orchJson(other.work.place, "do", "--prompt", "as in the old not-there.md");
    assert.match(other.calls[0]?.user ?? "", /as in the old not-there\.md/);
  });

  it("every command of the table takes --json", () => {
    const without = commandTable.filter(({ options }) => !options.includes("json")).map(({ name }) => name);
    assert.deepEqual(without, []);
  });
});
