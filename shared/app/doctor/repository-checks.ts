import { createTrash } from "../../adapters/trash.ts";
import { count } from "../../base/lines.ts";
import { nameSome } from "../../features/branches.ts";
import { OrchError } from "../../model/error.ts";
import { noRemote } from "../../model/no-remote.ts";
import type { AnywhereContext, OpenRepository } from "../anywhere.ts";
import { withRepositoryLock } from "../repository-lock.ts";
import { isFullyTrusted, trustSummary, withoutContracts } from "../trust.ts";
import { unfinishedHere, unfinishedNext, unfinishedText } from "../unfinished-writes.ts";
import { type CheckRow, ok, refusedRow } from "./check.ts";

/** The repository of the folder, as far as there is one. */
export async function repositoryRows(context: AnywhereContext): Promise<readonly CheckRow[]> {
  const { repository } = context;
  if (repository.kind === "none") {
    // Of git itself the line before says what is wrong.
    if (["git.missing", "git.too-old"].includes(repository.why.code)) return [];
    return [refusedRow("repository", "warn", repository.why)];
  }
  const { git, root } = repository;
  const main = await git.defaultBranch();
  return [
    ok(
      "repository",
      `${root}, default branch ${main}${git.place.gitDir === git.place.commonDir ? "" : ", a linked worktree"}`,
    ),
    ...(git.place.shallow
      ? [refusedRow("history", "warn", new OrchError("git.shallow", "a shallow clone: merge may miss history"))]
      : []),
    await headRow(repository, main),
    await operationRow(repository),
    await identityRow(repository),
    await remoteRow(repository),
  ];
}

async function headRow({ git }: OpenRepository, main: string): Promise<CheckRow> {
  const head = await git.head();
  switch (head.kind) {
    case "branch":
      return ok("branch", head.branch);
    case "unborn":
      return refusedRow("branch", "warn", new OrchError("tree.unborn", `${head.branch} has no commit yet`));
    case "detached":
      return refusedRow(
        "branch",
        "warn",
        new OrchError("tree.detached", "HEAD is detached", { data: { branch: main } }),
      );
  }
}

async function operationRow({ git }: OpenRepository): Promise<CheckRow> {
  const operation = await git.operation();
  if (operation === undefined) return ok("operation", "no merge, rebase, cherry-pick, revert or bisect is unfinished");
  const why = new OrchError("tree.in-progress", `a ${operation} is unfinished`, { data: { operation } });
  return refusedRow("operation", "warn", why);
}

async function identityRow({ git }: OpenRepository): Promise<CheckRow> {
  const who = await git.identity();
  if (who !== undefined) return ok("identity", `${who.name} <${who.email}>`);
  return refusedRow("identity", "fail", new OrchError("git.no-identity", "user.name or user.email is not set"));
}

async function remoteRow({ git }: OpenRepository): Promise<CheckRow> {
  const remote = await git.remote();
  if (remote !== undefined) return ok("remote", remote);
  const names = await git.remotes();
  if (names.length > 0) return refusedRow("remote", "warn", noRemote(names));
  return ok("remote", "none: everything stays on this machine");
}

/** Settings under which git shows Orch another tree than the one on disk, or runs programs. */
const traps: readonly {
  readonly key: string;
  readonly bad: (value: string, platform: "posix" | "win32") => boolean;
  readonly why: string;
  readonly next: string;
}[] = [
  {
    key: "core.autocrlf",
    bad: (value, platform) => value === "true" && platform === "posix",
    why: "line ends change at every checkout",
    next: "git config core.autocrlf input",
  },
  {
    key: "core.filemode",
    bad: (value, platform) => value === "false" && platform === "posix",
    why: "a changed executable bit is not seen",
    next: "git config core.fileMode true",
  },
  {
    key: "core.symlinks",
    bad: (value, platform) => value === "false" && platform === "posix",
    why: "links are checked out as text files",
    next: "git config core.symlinks true",
  },
  {
    key: "core.ignorecase",
    bad: (value, platform) => value === "true" && platform === "posix",
    why: "on a file system that tells case apart, renames by case are lost",
    next: "git config core.ignoreCase false",
  },
];

export async function gitConfigRows({ repository, machine }: AnywhereContext): Promise<readonly CheckRow[]> {
  if (repository.kind === "none") return [];
  const entries = await repository.call.config();
  const met = traps.flatMap(({ key, bad, why, next }): readonly CheckRow[] => {
    const entry = entries.findLast((one) => one.key === key);
    if (entry === undefined || !bad(entry.value.toLowerCase(), machine.platform)) return [];
    return [{ title: "git config", state: "warn", what: `${key} = ${entry.value}: ${why}`, next }];
  });
  return met.length > 0 ? met : [ok("git config", `none of ${traps.map(({ key }) => key).join(", ")} gets in the way`)];
}

/** What the repository ships that needs trust, and what of it has effect now. Looking runs nothing of it. */
export async function trustRows({ repository }: AnywhereContext): Promise<readonly CheckRow[]> {
  if (repository.kind === "none") return [];
  try {
    const state = await repository.trust.state();
    const list = [
      ...state.files.map(
        ({ path, trusted, changed }) =>
          `${path}: ${trusted ? "trusted" : path.startsWith(".orch/contracts/") ? "looked at by the first command that names it" : changed ? "changed since it was trusted, without effect" : "not trusted, without effect"}`,
      ),
      ...state.gitKeys.map(
        ({ key, value, trusted }) => `${key} = ${value}: ${trusted ? "approved" : "kept from running"}`,
      ),
    ];
    if (isFullyTrusted(state.code ? withoutContracts(state) : state))
      return [
        ok("trust", `its code may run${list.length === 0 ? "" : `, ${count(list.length, "thing")} looked at`}`, list),
      ];
    const what = state.code ? "its code may run, and something waits for you" : `not trusted: ${trustSummary(state)}`;
    return [{ title: "trust", state: "warn", what, next: "orch trust", ...(list.length === 0 ? {} : { list }) }];
  } catch (error) {
    return [refusedRow("trust", "fail", error)];
  }
}

/** Files that a killed command was writing; any command that writes puts them back, and `--fix` does it now. */
export async function unfinishedRow(context: AnywhereContext, signal: AbortSignal): Promise<readonly CheckRow[]> {
  const { repository, clock, ids } = context;
  if (repository.kind === "none") return [];
  const paths = await unfinishedHere({ ...context, git: repository.git });
  if (paths.length === 0) return [ok("writes", "no command was ended while it wrote here")];
  const trash = createTrash({ call: repository.call, clock, ids });
  return [
    {
      title: "writes",
      state: "fail",
      what: unfinishedText(paths),
      next: unfinishedNext,
      mend: {
        how: "safe",
        what: `Put back ${count(paths.length, "file")}`,
        async apply() {
          const here = { ...context, ...repository, trash, run: ids.next("run") };
          await withRepositoryLock(here, "doctor", signal, () => Promise.resolve());
          return `put back ${nameSome(paths)}`;
        },
      },
    },
  ];
}
