import { deepEqual, equal, match } from "node:assert/strict";
import path from "node:path";
import { createTreeSitterSyntax } from "../../shared/adapters/syntax-tree-sitter.ts";
import { completionScript, shells } from "../../shared/app/completion/scripts.ts";
import { absPath } from "../../shared/base/paths.ts";
import { eventually } from "../support/eventually.ts";
import { hasProgram, makeShellPlace, runId, type ShellPlace, Tmux, trashId } from "../support/shell-place.ts";
import { sourceRoot } from "../support/source-root.ts";
import { makeTempRepo, type TempRepo } from "../support/temp-repo.ts";

/** Line as typed, and the values that must be offered, no others. Names a shell would run are offered by nobody. */
const lines: readonly [line: string, values: readonly string[]][] = [
  ["orch comp", ["completion"]],
  ["orch do ", ["Billing/Invoice", "Billing/Refund"]],
  ["orch do Billing/I", ["Billing/Invoice"]],
  ["orch do inv", ["Billing/Invoice"]],
  ["orch new ", ["Billing/"]],
  ["orch restore ", [trashId]],
  ["orch status r-", [runId]],
  ["orch reply ", ["q-7"]],
  ["orch apply ", [`${runId}/Invoice/attempt-2`]],
  ["orch qa --changed=ma", ["--changed=main", "--changed=maintenance"]],
  ["orch scan --app ", ["web"]],
  ["orch model openrouter/poolside/laguna-s-2.1:", ["openrouter/poolside/laguna-s-2.1:free"]],
  ["orch -C docs do Billing/R", ["Billing/Refund"]],
  ["orch config explain judge.", ["judge.accept_revise", "judge.accept_warn"]],
  ["orch nothing ", []],
];

/** One shell for all lines; each answer ends with a line of its own. */
const bashAt = `source <(orch completion bash)
for COMP_LINE in "$@"; do COMP_POINT=\${#COMP_LINE}; _orch; printf '%s\\n' "\${COMPREPLY[@]}" "---"; done`;
const fishAt = "orch completion fish | source; for line in $argv; complete -C $line; echo ---; end";

/** Bash gets only what follows the last break character, as it will put it there. */
const afterBreak = (line: string, value: string): string => {
  const now = /\S*$/.exec(line)?.[0] ?? "";
  const at = Math.max(now.lastIndexOf("="), now.lastIndexOf(":")) + 1;
  return value.slice(at);
};

describe("shell completion", () => {
  let repo: TempRepo;
  let place: ShellPlace;
  before(async () => {
    repo = await makeTempRepo();
    place = await makeShellPlace(repo);
  });
  after(async () => {
    equal(await repo.read("pwned"), undefined, "a name of the repository ran");
    await repo.cleanup();
  });

  /** What was offered for each line. */
  const answersOf = (text: string): string[][] =>
    text
      .split("---\n")
      .slice(0, -1)
      .map((one) => valuesOf(one).toSorted());
  const valuesOf = (text: string): string[] =>
    text
      .split("\n")
      .filter((one) => one !== "")
      .map((one) => one.split("\t")[0] ?? "");

  it("never fails loudly, whatever is broken", async () => {
    await repo.write("broken/.features.json", "{");
    await repo.write("broken/.git", "gitdir: /nowhere");
    for (const words of [
      [],
      ["--"],
      ["--", "-C", "broken", "do", ""],
      ["--", "-C", "/nowhere", "restore", ""],
      ["--", "\0"],
    ]) {
      const clean = words.map((word) => word.replaceAll("\0", "?"));
      const text = await place.run("orch", "__complete", ...clean);
      for (const line of text.split("\n")) match(line, /^(?:\S+\t.*)?$/);
    }
  });

  describe("bash", () => {
    it("offers what fits, for every line", async function () {
      this.timeout(600_000);
      if (!hasProgram("bash")) this.skip();
      const text = await place.run("bash", "--norc", "-c", bashAt, "bash", ...lines.map(([line]) => line));
      deepEqual(
        answersOf(text),
        lines.map(([line, values]) => values.map((value) => afterBreak(line, value))),
      );
    });

    it("offers files where files are wanted", async function () {
      if (!hasProgram("bash")) this.skip();
      const typed = ["orch qa doc", "orch qa --sarif=docs/n"];
      const text = await place.run("bash", "--norc", "-c", bashAt, "bash", ...typed);
      deepEqual(answersOf(text), [["docs"], ["docs/notes.md"]]);
    });

    it("a real Tab puts it there", async function () {
      this.timeout(600_000);
      if (!hasProgram("bash") || !hasProgram("tmux", "-V")) this.skip();
      using terminal = new Tmux(place, ["bash", "--norc", "--noprofile", "-i"]);
      terminal.keys("source <(orch completion bash); echo re''ady", "Enter");
      await eventually("the script", () => terminal.screen().includes("\nready"), 60_000);
      terminal.keys("orch model openrouter/pool", "Tab");
      await eventually(
        "the model",
        () => terminal.screen().includes("orch model openrouter/poolside/laguna-s-2.1:free"),
        20_000,
      );
    });
  });

  describe("zsh", () => {
    it("a real Tab puts it there, for each line with one answer", async function () {
      if (!hasProgram("zsh") || !hasProgram("tmux", "-V")) this.skip();
      this.timeout(600_000);
      using terminal = new Tmux(place, ["zsh", "-f", "-i"]);
      terminal.keys("autoload -Uz compinit; compinit -u -D; source <(orch completion zsh); echo re''ady", "Enter");
      await eventually("the script", () => terminal.screen().includes("\nready"), 60_000);
      for (const [line, [value, another]] of lines) {
        if (value === undefined || another !== undefined) continue;
        terminal.keys("C-u");
        terminal.keys("-l", line);
        terminal.keys("Tab");
        const done = line.replace(/\S*$/, "") + value;
        await eventually(done, () => terminal.screen().includes(done), 60_000);
      }
      terminal.keys("C-u");
      terminal.keys("-l", "orch qa --sarif=docs/n");
      terminal.keys("Tab");
      await eventually("a file", () => terminal.screen().includes("orch qa --sarif=docs/notes.md"), 60_000);
    });

    it("can be read as a file of the fpath", async function () {
      if (!hasProgram("zsh")) this.skip();
      await repo.write("fpath/_orch", completionScript("zsh"));
      const text = await place.run(
        "zsh",
        "-f",
        "-c",
        "fpath=(fpath $fpath); autoload -Uz compinit; compinit -u -D; print -r -- $_comps[orch]",
      );
      equal(text.trim(), "_orch");
    });
  });

  describe("fish", () => {
    it("offers what fits, for every line", async function () {
      this.timeout(600_000);
      if (!hasProgram("fish")) this.skip();
      const text = await place.run("fish", "--no-config", "-c", fishAt, ...lines.map(([line]) => line));
      deepEqual(
        answersOf(text),
        lines.map(([, values]) => values),
      );
    });

    it("shows what each word is", async function () {
      if (!hasProgram("fish")) this.skip();
      const text = await place.run(
        "fish",
        "--no-config",
        "-c",
        "orch completion fish | source; complete -C 'orch comp'",
      );
      match(text, /^completion\tPrint what makes a shell complete orch's words/);
    });
  });

  describe("scripts", () => {
    const checkers = { bash: ["bash", "-n"], zsh: ["zsh", "-n"], fish: ["fish", "--no-execute"] } as const;
    for (const [shell, [program, flag]] of Object.entries(checkers)) {
      it(`${shell} reads its own`, async function () {
        if (!hasProgram(program)) this.skip();
        const at = path.join(repo.base, `script.${shell}`);
        await repo.write(path.relative(repo.root, at), completionScript(shell as keyof typeof checkers));
        equal(await place.run(program, flag, at), "");
      });
    }

    for (const [shell, grammar] of [
      ["pwsh", "powershell"],
      ["bash", "bash"],
    ] as const) {
      it(`the script for ${shell} has no fault in its syntax tree, a broken one has`, async () => {
        const made = await createTreeSitterSyntax(absPath(sourceRoot)).matcher(grammar, [], []);
        if (made.kind === "missing") throw new Error(made.why);
        using matcher = made.matcher;
        const faults = (text: string): number => {
          using parsed = matcher.parse(text, 5000);
          return parsed?.faults(5).length ?? -1;
        };
        equal(faults(completionScript(shell)), 0);
        const script = completionScript(shell);
        equal(faults(script.slice(0, script.length / 2)) > 0, true);
      });
    }

    it("none of them runs the word on the command line: it may be a repository's", () => {
      for (const shell of shells) {
        const script = completionScript(shell);
        equal(/\$\{?COMP_WORDS|\$words\[1\]|\$commandAst\.CommandElements\[0\]/.test(script), false, shell);
        match(script, /command orch __complete|Get-Command orch/);
      }
    });
  });
});
