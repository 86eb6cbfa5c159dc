import type * as vscode from "vscode";
import { type Disposable, DisposableStore } from "../shared/base/disposable.ts";
import { absPath } from "../shared/base/paths.ts";
import { runsDir, stateRunsDir } from "../shared/model/run-place.ts";
import { stateDir } from "./place.ts";
import { realPath, repositoryRoot } from "../shared/runner/host-files.ts";
import { RunFeed } from "../shared/runner/run-feed.ts";

/** One workspace folder: its repository and the runs in it. Two folders of one repository share the runs, not the session. */
export interface Session extends Disposable {
  readonly folder: vscode.WorkspaceFolder;
  /** Top of the working tree that holds the folder; undefined when there is no repository. */
  readonly root: string | undefined;
  /** The repository's root, else the folder: what paths in runs are relative to. */
  readonly base: string;
  readonly feed: RunFeed;
  readonly runsDirs: readonly string[];
}

export function openSession(folder: vscode.WorkspaceFolder, onError: (error: unknown) => void): Session {
  const store = new DisposableStore();
  let root = repositoryRoot(folder.uri.fsPath);
  const base = root ?? folder.uri.fsPath;
  // The runner names its folders by the real path.
  const place = absPath(realPath(base));
  const runsDirs = [runsDir(place), stateRunsDir(absPath(stateDir()), place)];
  const feed = store.add(new RunFeed(runsDirs, onError));
  return {
    folder,
    // `init` may have made it one meanwhile.
    get root() {
      return (root ??= repositoryRoot(base) === base ? base : undefined);
    },
    base,
    feed,
    runsDirs,
    dispose: () => store.dispose(),
  };
}
