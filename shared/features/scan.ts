import { throwIfAborted } from "../base/abort.ts";
import { inRoot, isInside, type RepoPath, repoPath } from "../base/paths.ts";
import type { Feature } from "../model/feature.ts";
import { type Target, targetText } from "../model/target.ts";
import type { Files } from "../ports/files.ts";
import { nameProblem } from "./names.ts";
import { type LoadedPack, mainPack, packOfSlice, requiredFiles } from "./packs.ts";
import { featureIn, featuresIn, type Project, type Space } from "./registry-space.ts";

/**
 * Slices by structure: `<features_dir>/<domain>/<Feature>` with the schema, handler and tests of a pack, or with a
 * spec.md. Only these two levels are looked at, so a test file of the same name elsewhere is no slice, and neither a
 * huge tree nor a loop of links can hold the scan up.
 */
export interface ScannedFeature {
  readonly feature: Feature;
  readonly registered: boolean;
  /** Nothing of `missing`. */
  readonly complete: boolean;
  /** File names the slice lacks; a registered feature without a folder lacks all of them. */
  readonly missing: readonly string[];
  /** False when the slice has no controller, which is allowed. */
  readonly controller: boolean;
  readonly pack: LoadedPack;
  /** Files of the slice's folder, links included. */
  readonly names: readonly string[];
}

export interface Scan {
  /** Sorted by domain, then name. */
  readonly features: readonly ScannedFeature[];
  /** Folders that were not looked at, and why. */
  readonly skipped: readonly { readonly path: string; readonly why: string }[];
}

export interface ScanOrder {
  readonly files: Files;
  readonly project: Project;
  readonly packs: readonly [LoadedPack, ...LoadedPack[]];
  /** The repository's files, for the language of features without a folder. */
  readonly paths: readonly RepoPath[];
  /** Only this space; all when absent. */
  readonly space?: Space;
}

export const maxScannedFolders = 20_000;

export async function scanSlices(order: ScanOrder, signal: AbortSignal): Promise<Scan> {
  const scan = new SliceScan(order, signal);
  for (const space of order.space === undefined ? order.project.spaces : [order.space]) await scan.walk(space);
  return scan.result();
}

/** What a folder of a slice lacks. Pure. */
function missingFiles(loaded: LoadedPack, names: readonly string[]): readonly string[] {
  const present = new Set(names);
  return requiredFiles(loaded.pack, false).filter((name) => !present.has(name));
}

class SliceScan {
  readonly #order: ScanOrder;
  readonly #signal: AbortSignal;
  readonly #found = new Map<string, ScannedFeature>();
  readonly #skipped: { path: string; why: string }[] = [];
  #budget = maxScannedFolders;

  constructor(order: ScanOrder, signal: AbortSignal) {
    this.#order = order;
    this.#signal = signal;
  }

  async walk(space: Space): Promise<void> {
    const registered = featuresIn(this.#order.project, space);
    const known = new Set(registered.map(({ dir }) => dir));
    const domains = (await this.#isInside(space.featuresDir)) ? await this.#folders(space.featuresDir) : [];
    for (const domain of domains) {
      const domainDir = repoPath(`${space.featuresDir}/${domain}`);
      if (domainDir === undefined) continue;
      for (const name of await this.#folders(domainDir)) await this.#look(space, { domain, name }, known);
    }
    for (const feature of registered)
      if (!this.#found.has(feature.dir)) this.#found.set(feature.dir, this.#absent(feature));
  }

  result(): Scan {
    const key = ({ feature }: ScannedFeature): string =>
      `${feature.target.domain}\0${feature.target.name}\0${feature.dir}`;
    return {
      features: [...this.#found.values()].toSorted((a, b) => (key(a) < key(b) ? -1 : 1)),
      skipped: this.#skipped,
    };
  }

  async #look(space: Space, target: Target, known: ReadonlySet<string>): Promise<void> {
    const { files, project, packs } = this.#order;
    const dir = repoPath(`${space.featuresDir}/${targetText(target)}`);
    if (dir === undefined || this.#found.has(dir)) return;
    throwIfAborted(this.#signal);
    const names = ((await files.list(inRoot(project.root, dir))) ?? [])
      .filter(({ kind }) => kind === "file" || kind === "symlink")
      .map(({ name }) => name);
    const loaded = packOfSlice(packs, names) ?? packs[0];
    const { schema, handler, tests } = loaded.pack.roles;
    if (
      ![schema, handler, tests].every((name) => names.includes(name)) &&
      !names.includes("spec.md") &&
      !known.has(dir)
    )
      return;
    const problem = nameProblem(target.domain, target.name);
    if (problem !== undefined) {
      this.#skipped.push({ path: dir, why: problem });
      return;
    }
    const missing = missingFiles(loaded, names);
    const controller = loaded.pack.roles.controller !== undefined && names.includes(loaded.pack.roles.controller);
    this.#found.set(dir, {
      feature: featureIn(space, target),
      registered: known.has(dir),
      complete: missing.length === 0,
      missing,
      controller,
      pack: loaded,
      names,
    });
  }

  #absent(feature: Feature): ScannedFeature {
    const { packs, paths } = this.#order;
    const loaded = mainPack(packs, paths) ?? packs[0];
    return {
      feature,
      registered: true,
      complete: false,
      missing: requiredFiles(loaded.pack, false),
      controller: false,
      pack: loaded,
      names: [],
    };
  }

  /** Names of the folders in a folder. A link counts when it stays in the repository. */
  async #folders(dir: RepoPath): Promise<readonly string[]> {
    const { files, project } = this.#order;
    const names: string[] = [];
    for (const { name, kind } of (await files.list(inRoot(project.root, dir))) ?? []) {
      throwIfAborted(this.#signal);
      if (name.startsWith(".") || name === "__pycache__" || name === "node_modules") continue;
      if (kind !== "directory" && !(kind === "symlink" && (await this.#isInside(`${dir}/${name}`)))) continue;
      if (this.#budget <= 0) {
        this.#skipped.push({ path: dir, why: `more than ${maxScannedFolders} folders: the rest was not looked at` });
        break;
      }
      this.#budget -= 1;
      names.push(name);
    }
    return names;
  }

  /** True for what is there and, links followed, in the repository; a link that leads out is noted. */
  async #isInside(path: string): Promise<boolean> {
    const { files, project } = this.#order;
    const [real, root] = await Promise.all([files.realPath(inRoot(project.root, path)), files.realPath(project.root)]);
    if (real === undefined || root === undefined) return false;
    if (isInside(real.replaceAll("\\", "/"), root.replaceAll("\\", "/"))) return true;
    this.#skipped.push({ path, why: "a symbolic link that leads out of the repository" });
    return false;
  }
}
