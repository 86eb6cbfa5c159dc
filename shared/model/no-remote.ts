import { OrchError } from "./error.ts";

/** Why nothing was pushed or fetched, with the keystroke that changes it. `names` are the repository's remotes. */
export function noRemote(names: readonly string[]): OrchError {
  if (names.length === 0) return new OrchError("git.no-remote", "there is no remote");
  return new OrchError("git.no-remote", `there are several remotes (${names.join(", ")}) and none is chosen`, {
    data: { remotes: names },
  });
}

/** For the end of a summary. That there is no remote at all is a way to work, so it comes without advice. */
export function noRemoteText(names: readonly string[]): string {
  const why = noRemote(names);
  return names.length === 0 ? why.message : `${why.message}. ${why.hint}`;
}
