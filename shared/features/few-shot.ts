import { throwIfAborted } from "../base/abort.ts";
import { type AbsPath, inRoot, type RepoPath, repoPath } from "../base/paths.ts";
import type { Feature } from "../model/feature.ts";
import type { Target } from "../model/target.ts";
import type { Files } from "../ports/files.ts";
import { roleFiles } from "./packs.ts";
import { isScaffold } from "./scaffold.ts";
import type { Scan, ScannedFeature } from "./scan.ts";

/** A working feature shown to a model as an example: whole files, spec.md first. */
export interface FewShot {
  readonly target: Target;
  readonly dir: RepoPath;
  readonly files: readonly { readonly path: RepoPath; readonly text: string }[];
}

export interface FewShotWish {
  readonly root: AbsPath;
  readonly feature: Feature;
  readonly lang: string;
  readonly scan: Scan;
  readonly count: number;
  /** `.orchignore`, see base/ignore.ts: a feature that loses a file to it is no example. */
  readonly ignored: (path: string) => boolean;
}

/** A model should see small, whole neighbours; a larger one would push the work itself out of the prompt. */
const maxFewShotChars = 30_000;
const maxFewShotTotalChars = 60_000;

/**
 * Working features (complete, registered, implemented) of the same domain and language, smallest first. Their texts are
 * as they are on disk: whoever sends them redacts secrets.
 */
export async function fewShots(files: Files, wish: FewShotWish, signal: AbortSignal): Promise<readonly FewShot[]> {
  const neighbours = wish.scan.features.filter(
    ({ feature, registered, complete, pack }) =>
      registered &&
      complete &&
      pack.pack.lang === wish.lang &&
      feature.target.domain === wish.feature.target.domain &&
      feature.dir !== wish.feature.dir,
  );
  const shots: { readonly shot: FewShot; readonly chars: number }[] = [];
  for (const neighbour of neighbours) {
    throwIfAborted(signal);
    const shot = await readShot(files, wish, neighbour);
    const chars = shot?.files.reduce((sum, { text }) => sum + text.length, 0) ?? 0;
    if (shot !== undefined && chars <= maxFewShotChars) shots.push({ shot, chars });
  }
  const smallest = shots
    .toSorted((a, b) => a.chars - b.chars || (a.shot.dir < b.shot.dir ? -1 : 1))
    .slice(0, wish.count);
  let total = 0;
  return smallest.filter(({ chars }) => (total += chars) <= maxFewShotTotalChars).map(({ shot }) => shot);
}

async function readShot(
  files: Files,
  wish: FewShotWish,
  { feature, pack, names }: ScannedFeature,
): Promise<FewShot | undefined> {
  const found: { path: RepoPath; text: string }[] = [];
  for (const name of ["spec.md", ...roleFiles(pack.pack).map((role) => role.name)]) {
    if (!names.includes(name)) continue;
    const path = repoPath(`${feature.dir}/${name}`);
    if (path === undefined || wish.ignored(path)) return undefined;
    const place = inRoot(wish.root, path);
    const stat = await files.stat(place);
    // A link may lead to any file of the machine; an example is never worth that.
    if (stat?.kind !== "file" || stat.sizeBytes > maxFewShotChars * 4) return undefined;
    const text = utf8(await files.read(place));
    if (text === undefined || (name === pack.pack.roles.handler && isScaffold(pack, feature, text))) return undefined;
    if (text.trim() !== "") found.push({ path, text });
  }
  return { target: feature.target, dir: feature.dir, files: found };
}

function utf8(bytes: Uint8Array | undefined): string | undefined {
  try {
    return bytes === undefined ? undefined : new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return undefined; // a binary file is no example
  }
}
