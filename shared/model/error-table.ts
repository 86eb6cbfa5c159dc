import { shellWord } from "../base/shell-word.ts";
import type { ExitName } from "./exit-code.ts";
import { type Hint, orch, say } from "./hint.ts";

/** What a hint may mention; every field is optional, the hint leaves out what it does not know. */
export interface ErrorData {
  readonly [key: string]: string | number | boolean | readonly string[] | undefined;
}

export interface ErrorRow {
  readonly exit: ExitName;
  /** The next keystroke: what the person types or does now. Its whole commands are the refusal's `next`: see hint.ts. */
  readonly hint: (data: ErrorData) => string | Hint;
}

const text = (data: ErrorData, key: string, otherwise: string): string => {
  const value = data[key];
  if (value === undefined) return otherwise;
  return Array.isArray(value) ? value.join(", ") : String(value);
};

/** What a hint's command is about, as it can be pasted: names and paths are the repository's, and a shell reads them. */
const word = (data: ErrorData, key: string, otherwise = ""): string => {
  const value = data[key];
  if (value === undefined) return otherwise;
  return Array.isArray(value) ? value.map((one) => shellWord(one)).join(" ") : shellWord(String(value));
};

const resume = (data: ErrorData) => orch(`resume ${word(data, "run")}`);
const create = (data: ErrorData) => orch(`new ${word(data, "target", "domain/Feature")} "what it does"`);

/** With what it is about, or with a placeholder that nobody can paste. */
function about(data: ErrorData, command: string, key: string, options = "") {
  if (data[key] === undefined) return `orch ${command} <${key}>${options}`;
  return orch(`${command} ${word(data, key)}${options}`);
}

const withoutSandbox = 'Or set sandbox to "preferred" in config.json to let tests run as you';

/**
 * Each code's exit code and hint; a code that is not here does not compile. Codes are `area.reason`. Findings are not
 * errors: see finding.ts. A row for each error that a person can be told: long because there are as many.
 */
export const errorTable = {
  "usage.invalid": {
    exit: "usage",
    hint: (d) =>
      say`${d["how"] ? `${text(d, "how", "")}. All options` : "Run"}: ${orch(`${text(d, "command", "")} --help`.trimStart())}`,
  },
  "usage.unknown-command": {
    exit: "usage",
    hint: (d) => (d["near"] ? say`Did you mean: ${orch(text(d, "near", ""))}` : say`Run: ${orch("--help")}`),
  },
  "target.invalid": { exit: "usage", hint: () => "A target is domain/Feature, for example Billing/Invoice" },
  "target.unknown": {
    exit: "usage",
    hint: (d) => {
      const near = text(d, "near", "");
      if (d["case"] === true)
        return d["command"]
          ? say`Did you mean: ${orch(`${text(d, "command", "")} ${near}`)}`
          : `Use the existing spelling: ${near}`;
      if (d["removed"])
        return say`It was removed. Bring it back with: ${orch(`restore ${word(d, "removed")}`)}, or make it anew: ${create(d)}`;
      return near === ""
        ? say`Run: ${orch("scan")}, or create it: ${create(d)}`
        : say`Did you mean ${near}? Or create it: ${create(d)}`;
    },
  },
  "target.missing": { exit: "usage", hint: (d) => `Name the feature: orch ${text(d, "command", "do")} domain/Feature` },
  "target.exists": {
    exit: "precondition",
    hint: (d) => say`Change it with: ${orch(`modify ${word(d, "target", "domain/Feature")} "what changes"`)}`,
  },
  "target.case": { exit: "usage", hint: (d) => `Use the existing spelling: ${text(d, "existing", "")}` },
  "tree.dirty": {
    exit: "precondition",
    hint: (d) => text(d, "how", "Commit or stash these files, then run the command again"),
  },
  "tree.in-progress": {
    exit: "precondition",
    hint: (d) =>
      d["operation"] === "bisect"
        ? "End it with: git bisect reset"
        : `Finish it with: git ${text(d, "operation", "rebase")} --continue, or end it with: git ${text(d, "operation", "rebase")} --abort`,
  },
  "tree.detached": {
    exit: "precondition",
    hint: (d) => `Go back to a branch: git switch ${word(d, "branch", "main")}`,
  },
  "tree.unborn": {
    exit: "precondition",
    hint: () => 'Make the first commit: git commit --allow-empty -m "first commit"',
  },
  "tree.changed": {
    exit: "decide",
    hint: (d) =>
      typeof d["branch"] === "string"
        ? say`Go back with: git switch ${word(d, "branch")}, then: ${resume(d)}`
        : d["beside"] === true
          ? say`Nothing of it was overwritten. Take your edit back and go on with: ${resume(d)}, or keep it, end this run with: ${orch(`cancel ${word(d, "run")}`)}, and start from it with: ${orch("do")}`
          : say`Nothing of it was overwritten. Look at ${text(d, "paths", "the files")}, then: ${resume(d)}`,
  },
  "branch.open": {
    exit: "precondition",
    hint: (d) =>
      say`Finish it with: ${orch(`merge ${word(d, "branch")}`)}, discard it with: ${orch(`undo ${word(d, "branch")}`)}, or go on with --allow-open`,
  },
  "branch.wrong": {
    exit: "precondition",
    hint: (d) => `Go there first: git switch ${word(d, "branch", "the feature's branch")}`,
  },
  "branch.not-feature": {
    exit: "precondition",
    hint: (d) => {
      if (d["target"]) {
        return say`See what there is with: ${orch("scan")}, or work on it with: ${orch(`do ${word(d, "target")}`)}`;
      }
      if (d["named"]) return `Name the feature: orch ${text(d, "named", "")} domain/Feature`;
      const now = d["branch"] ? ` (on ${text(d, "branch", "")} now)` : "";
      return say`Go to a feature branch: git switch domain/Feature, or start one: ${create({})}${now}`;
    },
  },
  "branch.taken": {
    exit: "precondition",
    hint: (d) =>
      `Rename or delete the branch ${text(d, "branch", "")} first: git branch -m ${word(d, "branch")} other-name`,
  },
  "branch.elsewhere": {
    exit: "precondition",
    hint: (d) => `Go there and switch to another branch: git -C ${word(d, "folder", "that folder")} switch --detach`,
  },
  "branch.diverged": {
    exit: "precondition",
    hint: (d) =>
      say`Take both sides into the feature with: ${orch("merge --update")}, or join them by hand: git switch ${word(d, "branch", "main")} && git pull --rebase`,
  },
  "spec.missing": {
    exit: "precondition",
    hint: (d) => say`Write it with: ${create(d)}`,
  },
  "spec.not-ready": { exit: "blocked", hint: (d) => say`Edit ${text(d, "path", "spec.md")}, then run: ${orch("do")}` },
  "registry.invalid": {
    exit: "precondition",
    hint: (d) =>
      `Mend ${text(d, "path", ".features.json")}${d["line"] ? ` at line ${text(d, "line", "")}` : ""}, then run the command again. Nothing was changed`,
  },
  "config.invalid": {
    exit: "precondition",
    hint: (d) =>
      `Mend ${text(d, "path", ".orch/config.json")}${d["line"] ? ` at line ${text(d, "line", "")}` : ""}, then run the command again`,
  },
  "config.unknown-key": {
    exit: "usage",
    hint: (d) =>
      d["near"]
        ? say`Did you mean ${text(d, "near", "")}? All of them: ${orch("config explain")}`
        : say`See them all with: ${orch("config explain")}`,
  },
  "rules.invalid": {
    exit: "precondition",
    hint: (d) => `Mend ${text(d, "path", "the rule file")}, then run the command again`,
  },
  "persona.invalid": {
    exit: "precondition",
    hint: (d) => `Mend ${text(d, "path", "the persona file")}, then run the command again`,
  },
  "file.missing": {
    exit: "usage",
    hint: (d) => `Name a file that is there, or write the words themselves instead of ${text(d, "path", "its name")}`,
  },
  "file.invalid": {
    exit: "precondition",
    hint: (d) =>
      `Mend ${text(d, "path", "the file")}${d["line"] ? ` at line ${text(d, "line", "")}` : ""}, then run the command again`,
  },
  "contract.invalid": {
    exit: "blocked",
    hint: (d) => say`Mend ${text(d, "path", "the contract")}, then run: ${about(d, "check", "path")}`,
  },
  "scope.overlap": {
    exit: "blocked",
    hint: () => "Give each parallel contract its own files, or chain them with after",
  },
  "contract.exists": {
    exit: "precondition",
    hint: (d) => say`Look at it with: ${about(d, "check", "path")}, or take another id`,
  },
  "contract.unknown": {
    exit: "usage",
    hint: (d) =>
      d["path"] === undefined
        ? say`List what there is with: ${orch("status")}`
        : "Name a file of .orch/contracts, or write one with: orch check --template ID",
  },
  "contract.not-prepared": {
    exit: "precondition",
    hint: (d) => say`Make its place first: ${about(d, "prepare", "path")}`,
  },
  "contract.no-reply": {
    exit: "usage",
    hint: (d) =>
      say`Hand in its last words, as --reply FILE or on standard input of --reply -; where it said nothing: ${about(d, "guard", "path")}`,
  },
  "contract.conflict": {
    exit: "decide",
    hint: (d) =>
      say`The tree is as it was. Commit or move your edits away and merge again, or have it done anew: ${about(d, "run", "path")}`,
  },
  "contract.needs-lead": {
    exit: "decide",
    hint: (d) => say`Mend that, then: ${resume(d)}`,
  },
  "review.missing": {
    exit: "decide",
    // What has not been looked at is not offered to be accepted.
    hint: (d) => ({
      text: `Look at it, then: orch review ${word(d, "id", "<ID>")} --accept`,
      next: d["id"] === undefined ? [] : [`orch review ${word(d, "id")}`],
    }),
  },
  // What a review closed otherwise cannot be accepted any more.
  "review.closed": {
    exit: "decide",
    hint: (d) =>
      d["verb"] === "revise"
        ? say`Have it revised: ${about(d, "dispatch", "path", ` --feedback .orch/runs/${text(d, "id", "")}/feedback.md`)}`
        : d["change"] === undefined
          ? say`It is the lead's. To have it done all the same: ${about(d, "run", "path")}`
          : say`It is the lead's. Its last change can be had with: ${orch(`apply ${word(d, "change")}`)}, or have it done anew: ${about(d, "run", "path")}`,
  },
  "contract.no-result": {
    exit: "precondition",
    hint: (d) =>
      d["removed"] !== undefined
        ? say`Bring it back with: ${orch(`restore ${word(d, "removed")}`)}, or have it done anew: ${about(d, "run", "path")}`
        : d["prepared"] === true
          ? say`Have what was prepared judged: ${about(d, "guard", "path")}`
          : say`Have it done: ${about(d, "run", "path")}, or try once: ${about(d, "dispatch", "path")}`,
  },
  // Looking again would show the same: only what the attempt left, or doing it anew, leads on.
  "contract.kept-gone": {
    exit: "precondition",
    hint: (d) =>
      d["change"] === undefined
        ? say`Have it done anew: ${about(d, "run", "path")}`
        : say`Its change can still be had with: ${orch(`apply ${word(d, "change")}`)}, or have it done anew: ${about(d, "run", "path")}`,
  },
  "review.nothing": { exit: "precondition", hint: () => say`See how its contracts stand with: ${orch("status")}` },
  "review.limit": {
    exit: "decide",
    hint: (d) => say`Take it over: ${about(d, "review", "id", " --take-over")}, or mend the contract and run it again`,
  },
  "review.items": {
    exit: "usage",
    hint: () => 'Write numbered items, each like: "1. src/a.py:12: the fault. Done: what done looks like"',
  },
  "slots.full": {
    exit: "precondition",
    hint: () =>
      say`Wait until a worker ends, or give a prepared place back: orch guard <file> --reply, or ${orch("clean")}`,
  },
  "worker.unknown": {
    exit: "usage",
    hint: (d) =>
      say`Known are ${text(d, "known", "")}, and provider/model. What can be used here says: ${orch("doctor")}`,
  },
  "worker.missing": {
    exit: "precondition",
    hint: (d) =>
      d["install"] === undefined
        ? say`Name another with --worker. The table of workers: ${orch("doctor --verbose")}`
        : `Install it: ${text(d, "install", "")}, or name another with --worker`,
  },
  "worker.protocol": {
    exit: "decide",
    hint: (d) => say`Look at ${text(d, "log", "the transcript")}, then: ${resume(d)}`,
  },
  "model.exhausted": {
    exit: "decide",
    hint: (d) =>
      say`${d["models"] ? `Tried: ${text(d, "models", "none")}. ` : ""}See what there is with: ${orch("model --list")}, then name one with --model ID or let Orch choose: --model auto`,
  },
  "model.unknown": {
    exit: "usage",
    hint: (d) =>
      say`Known here: ${text(d, "known", "see the list")}. All of them: ${orch("model --list")}. Or let Orch choose: ${d["command"] === "model" ? orch("model auto") : "--model auto"}`,
  },
  "model.not-kept": {
    exit: "usage",
    hint: (d) => say`Run it on a terminal, or add --yes. To lead one run only: ${about(d, "do --model", "model")}`,
  },
  "env.no-key": {
    exit: "decide",
    hint: (d) => {
      const how = text(d, "how", "Set the provider's key in the environment of the host that runs Orch");
      return d["run"] === undefined ? how : say`${how}, then: ${resume(d)}`;
    },
  },
  "env.no-python": {
    exit: "precondition",
    hint: () => "Install Python 3 and pytest, or Node.js 22.18. On Debian: apt-get install python3 python3-pytest",
  },
  "env.no-runner": {
    exit: "precondition",
    hint: (d) =>
      d["ended"] === true
        ? say`Run the command again. When it ends the same way, run: ${orch("doctor")}`
        : "Build it with: npm run build",
  },
  "env.node-too-old": { exit: "precondition", hint: () => "Install Node 22.19 or newer, or set ORCH_NODE to one" },
  "env.no-sqlite": { exit: "precondition", hint: () => "Use Node 22.19 or newer: its node:sqlite holds the locks" },
  "env.no-sandbox": {
    exit: "precondition",
    hint: (d) =>
      d["hint"] === undefined
        ? say`Look what is missing with: ${orch("doctor")}. ${withoutSandbox}`
        : `${text(d, "hint", "")}. ${withoutSandbox}`,
  },
  "env.disk-full": { exit: "decide", hint: (d) => say`Free some space, then: ${resume(d)}` },
  "env.read-only": {
    exit: "precondition",
    hint: () => "Make the disk writable, or work in a copy of the repository: git clone",
  },
  "env.missing-tool": { exit: "precondition", hint: (d) => `Install ${text(d, "tool", "it")}` },
  "git.missing": { exit: "precondition", hint: () => "Install git 2.38 or newer" },
  "git.too-old": { exit: "precondition", hint: () => "Install git 2.38 or newer" },
  "git.not-a-repository": {
    exit: "precondition",
    hint: (d) =>
      d["missing"]
        ? "Name a folder that is there, or go to your repository's folder"
        : say`Run: ${orch("init .")} to make this folder a project, or go to your repository's folder`,
  },
  "git.bare": { exit: "precondition", hint: () => "Work in a clone of it: git clone <this repository> <folder>" },
  "git.no-identity": {
    exit: "precondition",
    hint: () =>
      'Set it with: git config --global user.name "Your Name" && git config --global user.email you@example.com',
  },
  "git.conflict": {
    exit: "precondition",
    hint: (d) =>
      d["byHand"]
        ? `Both branches are as they were. Merge by hand: ${text(d, "byHand", "")}`
        : say`Both branches are as they were. Bring main into the feature: ${orch("merge --update")}, or merge by hand`,
  },
  "git.no-remote": {
    exit: "precondition",
    hint: (d) =>
      d["remotes"] === undefined
        ? "Add one with: git remote add origin URL, or pass --no-push"
        : "Choose one with: git config checkout.defaultRemote <name>",
  },
  "git.push-rejected": {
    exit: "precondition",
    hint: (d) =>
      d["retry"]
        ? text(d, "retry", "")
        : `Bring it up to date with: git fetch && git status, then push again: git push ${word(d, "remote", "origin")} ${word(d, "branch")}`.trim(),
  },
  "git.shallow": {
    exit: "precondition",
    hint: () => "Get the missing history: git fetch --unshallow, then run the command again",
  },
  "git.locked": {
    exit: "precondition",
    hint: (d) => `Wait for your other git command to end. When none runs, remove ${text(d, "path", ".git/index.lock")}`,
  },
  "git.hook-failed": { exit: "precondition", hint: () => "Mend what the hook says, then run the command again" },
  "git.unsafe-config": {
    exit: "trust",
    hint: (d) => say`Look at ${text(d, "keys", "the configuration")} in .git/config, then: ${orch("trust")}`,
  },
  "git.failed": { exit: "precondition", hint: (d) => `Run it by hand to see more: git ${text(d, "argv", "status")}` },
  "run.locked": {
    exit: "precondition",
    hint: (d) =>
      say`Wait for it, look at it with: ${orch("status")}, or end it with: ${orch(`cancel ${word(d, "run")}`)}`,
  },
  "run.interrupted": { exit: "decide", hint: (d) => say`Go on with: ${resume(d)}` },
  "run.unknown": {
    exit: "usage",
    hint: (d) =>
      d["waiting"] === undefined
        ? say`List them with: ${orch("runs")}`
        : d["left"] === true
          ? say`End one for good with: ${about(d, "cancel", "waiting")}`
          : say`End one for good with: ${about(d, "cancel", "waiting")}, or go on with it: ${about(d, "resume", "waiting")}`,
  },
  "run.finished": { exit: "precondition", hint: () => say`List the runs with: ${orch("runs")}` },
  "run.left-behind": {
    exit: "precondition",
    hint: (d) =>
      say`There is nothing left in it to go on with. End it for good with: ${orch(`cancel ${word(d, "run")}`)}`,
  },
  "run.foreign": {
    exit: "trust",
    hint: () => "Read its request.json, then start that command yourself",
  },
  "run.pending": {
    exit: "decide",
    hint: (d) => `Answer with: ${text(d, "reply", "orch reply <id> --choice <choice>")}`,
  },
  "run.by-hand": { exit: "usage", hint: () => say`Start a command instead: ${orch("--help")}` },
  "reply.unknown": { exit: "usage", hint: () => say`See what is pending with: ${orch("wait")}` },
  "reply.taken": { exit: "precondition", hint: () => say`The first reply stands. See: ${orch("status")}` },
  "trash.unknown": { exit: "usage", hint: () => say`List what can be restored with: ${orch("restore")}` },
  "trash.newer": { exit: "decide", hint: (d) => `Compare them, then keep one: ${text(d, "paths", "")}` },
  "trash.damaged": {
    exit: "precondition",
    hint: (d) => `Check the repository with: git fsck, entry ${text(d, "id", "")}`,
  },
  "repository.changed": {
    exit: "decide",
    hint: () =>
      say`Look at git config --local --list and at the hooks; none of them runs before you decided: ${orch("trust")}`,
  },
  "confirm.needed": { exit: "usage", hint: () => "Run it again with --yes once you have read what goes" },
  "trust.needed": {
    exit: "trust",
    hint: (d) =>
      // The one with the hash answers the question, so it is not among what a host offers.
      say`Look and decide with: ${orch("trust")}${d["hash"] === undefined ? "" : `; without a terminal, once looked at: orch trust --hash ${word(d, "hash")}`}`,
  },
  "trust.mismatch": {
    exit: "trust",
    hint: (d) => say`This repository's hash is ${text(d, "hash", "another")}: look at it with ${orch("trust")}`,
  },
  "apply.mismatch": {
    exit: "precondition",
    hint: () => "The files changed since. Commit or move your edits away, then apply again",
  },
  "path.refused": {
    exit: "usage",
    hint: (d) => {
      if (d["attributes"] === true)
        return say`Mend what .gitattributes says of ${text(d, "path", "it")}, then run: ${orch("do")}`;
      if (d["unstorable"] === true) return say`Take ${text(d, "paths", "it")} away, then run the command again`;
      if (d["protected"] === true)
        return say`Make ${text(d, "path", "it")} and its folder writable, then run the command again`;
      if (d["unreadable"] === true) return "Make it readable or take it away, then run the command again";
      return d["folder"] === true ? "Name a file in it" : "Use a path inside the repository";
    },
  },
  "cassette.unknown-prompt": {
    exit: "decide",
    hint: () => say`The demo model only knows its sample. Use a model of yours: ${orch("model")}`,
  },
  "template.refused": {
    exit: "decide",
    hint: (d) => {
      const at = `${text(d, "path", "spec.md")} at line ${text(d, "line", "")}`;
      switch (text(d, "kind", "")) {
        case "wrong":
          return say`Mend ${at}: no model can do both. Then run: ${orch("do")}`;
        case "amendment":
          return say`Say it in the tables, take the section out of ${at}, then run: ${orch("do")}. Or connect a model: ${orch("model")}`;
        case "beyond":
          return say`Mend ${at}, then run: ${orch("do")}. Or connect a model: ${orch("model")}`;
        default:
          return say`Connect a model: ${orch("model")}, or write the files by hand`;
      }
    },
  },
} as const satisfies Record<string, ErrorRow>;

export type ErrorCode = keyof typeof errorTable;
