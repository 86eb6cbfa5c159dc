import type { Finding } from "../model/finding.ts";
import type { Observed } from "../model/observed.ts";
import type { Gate } from "../ports/gate.ts";
import { finding, ran, type Where } from "./gate-finding.ts";

/** What happened outside the diff: writes elsewhere, git's own state, files that the ignore rules hide. */
export function createObservedGate(): Gate {
  return {
    id: "observed",
    phase: "change",
    run: ({ observed }) =>
      Promise.resolve(
        observed === undefined ? { kind: "skipped", why: "nobody watched" } : ran(observedFindings(observed)),
      ),
  };
}

/** A name that a worker chose: shown, never taken as a place of the repository. */
const each = (names: readonly string[] | undefined, make: (name: string) => Finding): Finding[] =>
  [...(names ?? [])].toSorted().slice(0, 50).map(make);

function observedFindings(observed: Observed): Finding[] {
  const about = (what: string, remedy: string): Where => ({ evidence: what, remedy });
  return [
    ...each(observed.writesOutside, (name) =>
      finding("outside_write", "FAIL", `${name} was written, which is no part of the workspace`, {
        ...about(name, "Write only inside the workspace; it was put back where that was possible"),
      }),
    ),
    ...(observed.headMoved === true ? [gitState("HEAD was moved", "HEAD")] : []),
    ...each(observed.gitConfigChanged, (name) => gitState(`git's configuration was changed: ${name}`, name)),
    ...each(observed.skipWorktree, (name) => gitState(`git was told not to look at ${name}`, name)),
    ...each(observed.ignoredFiles, (name) =>
      finding("ignored_file_written", "WARN", `${name} was written, which the ignore rules hide from the change`, {
        ...about(name, "Put code where git sees it; look at what the change needs of this file"),
      }),
    ),
    ...each(observed.strayFiles, (name) =>
      finding("stray_cli_file", "WARN", `${name} was left by an agent's program and removed`, {
        path: name,
        ...about(name, "Nothing: it is no part of the change"),
      }),
    ),
    ...each(observed.supervision, (what) =>
      finding("supervision", "WARN", `the supervisor had to step in: ${what}`, {
        ...about(what, "Read what was refused before you accept the work"),
      }),
    ),
  ];
}

function gitState(message: string, evidence: string): Finding {
  return finding("git_state_changed", "FAIL", message, {
    evidence,
    remedy: "Leave git's state alone; it was put back",
  });
}
