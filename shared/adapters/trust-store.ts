import { createHash } from "node:crypto";
import type { AbsPath, RepoPath } from "../base/paths.ts";
import { inRoot, repoPath } from "../base/paths.ts";
import { OrchError } from "../model/error.ts";
import { readJson } from "../model/json-text.ts";
import { TrustFile, type TrustState } from "../model/trust.ts";
import type { Files } from "../ports/files.ts";
import type { GitRead, RepoPlace } from "../ports/git.ts";
import type { Locks } from "../ports/lock.ts";
import type { Trust } from "../ports/trust.ts";
import type { HookWatch } from "./hook-watch.ts";

/**
 * The trust store: `trust.json` in the user's state folder, keyed by the real path of the git common dir. A file counts
 * by the hash of its bytes, so a change asks again. The trusted bytes are kept beside it, to show the next change as a
 * diff. Nothing here runs anything of the repository.
 */
export interface TrustStoreDeps {
  readonly files: Files;
  readonly place: RepoPlace;
  readonly programKeys: GitRead["programKeys"];
  readonly hooks: HookWatch;
  readonly locks: Locks;
  readonly stateDir: AbsPath;
  readonly now: () => number;
}

/** Where a repository may ship something that takes effect; folders are read one level deep or by language. */
const projectFile = ".orch/config.json" as RepoPath;
const maxFiles = 500;
const maxBytes = 1_000_000;

export function createTrustStore(deps: TrustStoreDeps): Trust {
  const { files, place, stateDir } = deps;
  const file = inRoot(stateDir, "trust.json");
  const key: string = place.commonDir;
  const root = place.root;

  async function load(): Promise<TrustFile> {
    const text = await files.readText(file);
    if (text === undefined) return { v: 1, repositories: {} };
    const read = readJson(text, TrustFile);
    if (read.kind === "ok") return read.value;
    throw new OrchError("file.invalid", `${file}:${read.fault.line}: ${read.fault.message}`, {
      data: { path: file, line: read.fault.line },
    });
  }

  /** Read, change, write under a lock of its own: two hosts may trust two repositories at once. */
  async function change(edit: (store: TrustFile) => TrustFile): Promise<void> {
    await files.makeDir(stateDir, { mode: 0o700 });
    const attempt = deps.locks.try(inRoot(stateDir, "trust.lock"), { host: "orch", what: "trust" });
    if (attempt.kind === "busy")
      throw new OrchError("run.locked", "another Orch is changing the trust store", { data: {} });
    try {
      await files.write(file, `${JSON.stringify(edit(await load()), null, 2)}\n`, { mode: 0o600 });
    } finally {
      attempt.lock[Symbol.dispose]();
    }
  }

  async function present(): Promise<{ path: RepoPath; bytes: Uint8Array }[]> {
    const paths = [
      projectFile,
      ...(await below(".orch/rules", 3)),
      ...(await below(".orch/personas", 1)),
      ...(await below(".orch/contracts", 1)),
    ];
    const out: { path: RepoPath; bytes: Uint8Array }[] = [];
    for (const path of paths.slice(0, maxFiles)) {
      const bytes = await readPlain(path);
      if (bytes) out.push({ path, bytes });
    }
    return out.toSorted((a, b) => (a.path < b.path ? -1 : 1));
  }

  /** Only plain files: a link could show one content now and another later. */
  async function readPlain(path: RepoPath): Promise<Uint8Array | undefined> {
    const at = inRoot(root, path);
    const stat = await files.stat(at);
    if (stat?.kind !== "file" || stat.sizeBytes > maxBytes) return undefined;
    const real = await files.realPath(at);
    const realRoot = await files.realPath(root);
    if (real === undefined || realRoot === undefined || real !== inRoot(realRoot, path)) return undefined;
    return await files.read(at);
  }

  async function below(folder: string, depth: number): Promise<RepoPath[]> {
    const names = await files.list(inRoot(root, folder));
    const out: RepoPath[] = [];
    for (const { name, kind } of names ?? []) {
      const path = repoPath(`${folder}/${name}`);
      if (path === undefined) continue;
      if (kind === "file" && /\.(?:json|md|scm|ts|py)$/.test(name)) out.push(path);
      if (kind === "directory" && depth > 1) out.push(...(await below(path, depth - 1)));
    }
    return out;
  }

  async function state(): Promise<TrustState> {
    const entry = (await load()).repositories[key];
    const shipped = await present();
    const keys = await deps.programKeys();
    const rows = shipped.map(({ path, bytes }) => {
      const hash = sha256(bytes);
      const known = entry?.files[path];
      return { path, sha256: hash, trusted: known === hash, changed: known !== undefined && known !== hash };
    });
    const changedHooks = (await deps.hooks.changed()).map(({ name, value, at }) => ({
      key: name,
      value: hookText(value),
      hook: { is: value, ...(at === undefined ? {} : { at }) },
    }));
    const gitKeys = [...keys, ...changedHooks].map((row) => ({
      ...row,
      trusted: entry?.gitKeys.includes(gitKeyMark(row.key, row.value)) ?? false,
    }));
    const lines = [
      ...rows.map((row) => `${row.path}\0${row.sha256}`),
      ...gitKeys.map((row) => `git\0${gitKeyMark(row.key, row.value)}`),
    ].toSorted();
    return {
      repository: key,
      code: entry?.code ?? false,
      files: rows,
      gitKeys,
      hash: sha256(new TextEncoder().encode(lines.join("\n"))),
    };
  }

  return {
    state,
    async mayRunCode() {
      return (await load()).repositories[key]?.code ?? false;
    },
    async trustedFile(path) {
      const bytes = await readPlain(path);
      if (!bytes) return undefined;
      const entry = (await load()).repositories[key];
      return entry?.files[path] === sha256(bytes) ? bytes : undefined;
    },
    async formerBytes(path) {
      const hash = (await load()).repositories[key]?.files[path];
      return hash === undefined ? undefined : await files.read(inRoot(stateDir, "trusted", hash));
    },
    async grant(seen) {
      const shipped = await present();
      const kept: Record<string, string> = {};
      await files.makeDir(inRoot(stateDir, "trusted"), { mode: 0o700 });
      for (const row of seen.files) {
        const now = shipped.find(({ path }) => path === row.path);
        if (!now || sha256(now.bytes) !== row.sha256) continue;
        kept[row.path] = row.sha256;
        await files.write(inRoot(stateDir, "trusted", row.sha256), now.bytes, { mode: 0o600 });
      }
      const gitKeys = seen.gitKeys.map((row) => gitKeyMark(row.key, row.value));
      const shown = new Set(seen.files.map(({ path }) => path));
      await change((store) => {
        // What was not shown is neither granted nor taken back: a contract is decided about by itself.
        const others = Object.entries(store.repositories[key]?.files ?? {}).filter(([path]) => !shown.has(path));
        const entry = { code: true, files: { ...Object.fromEntries(others), ...kept }, gitKeys, at: deps.now() };
        return { ...store, repositories: { ...store.repositories, [key]: entry } };
      });
      await deps.hooks.decided(
        seen.gitKeys.flatMap((row) => (row.hook === undefined ? [] : [{ name: row.key, value: row.hook.is }])),
      );
    },
    async noteWritten(path, hash) {
      await change((store) => {
        const entry = store.repositories[key] ?? { code: false, files: {}, gitKeys: [], at: deps.now() };
        return {
          ...store,
          repositories: { ...store.repositories, [key]: { ...entry, files: { ...entry.files, [path]: hash } } },
        };
      });
    },
    async approvedGitKeys() {
      return (await load()).repositories[key]?.gitKeys ?? [];
    },
    watchHooks: (id) => deps.hooks.begin(id),
    hooksWatched: (id) => deps.hooks.end(id),
    async hooksHeld() {
      const changed = await deps.hooks.changed();
      if (changed.length === 0) return false;
      const approved = (await load()).repositories[key]?.gitKeys ?? [];
      return changed.some(({ name, value }) => !approved.includes(gitKeyMark(name, hookText(value))));
    },
    async revoke() {
      await change((store) => {
        const { [key]: _gone, ...rest } = store.repositories;
        return { ...store, repositories: rest };
      });
    },
  };
}

/** By mode and content, so that what a person trusted is that hook and no other. */
function hookText(value: string): string {
  return `a hook that changed while a worker could write it (${value})`;
}

/** Approved by name and value: a changed filter command is another filter. */
export function gitKeyMark(key: string, value: string): string {
  return `${key}=${sha256(new TextEncoder().encode(value))}`;
}

function sha256(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}
