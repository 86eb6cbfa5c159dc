import { diskSpace } from "../../adapters/disk-space.ts";
import { userEnvironment } from "../../adapters/git-environment.ts";
import { findGit } from "../../adapters/git-place.ts";
import { inRoot } from "../../base/paths.ts";
import { OrchError } from "../../model/error.ts";
import type { AnywhereContext } from "../anywhere.ts";
import { type CheckRow, ok, refusedRow } from "./check.ts";

const floor = [22, 19] as const;
const scarceBytes = 1024 ** 3;
const tooFewBytes = 100 * 1024 ** 2;

/** What Orch itself stands on. */
export function orchRow({ machine }: AnywhereContext): readonly CheckRow[] {
  return [ok("orch", `${machine.version} in ${machine.installRoot}`)];
}

export function nodeRow({ nodePath }: AnywhereContext, version = process.versions.node): readonly CheckRow[] {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  const enough = major > floor[0] || (major === floor[0] && minor >= floor[1]);
  if (enough) return [ok("node", `${version} at ${nodePath}`)];
  return [refusedRow("node", "fail", new OrchError("env.node-too-old", `${version} at ${nodePath} is too old`))];
}

/** A lock is taken and freed where locks are: a network file system may have none. */
export async function locksRow({ locks, files, ids, machine }: AnywhereContext): Promise<readonly CheckRow[]> {
  const folder = inRoot(machine.stateDir, "locks");
  const at = inRoot(folder, `doctor-${ids.next("marker")}.db`);
  try {
    await files.makeDir(folder, { mode: 0o700 });
    const taken = locks.try(at, { host: "cli", what: "doctor" });
    if (taken.kind === "busy")
      return [{ title: "locks", state: "fail", what: `a new lock in ${folder} is held at once` }];
    const second = locks.isFree(at);
    taken.lock[Symbol.dispose]();
    if (!second) return [ok("locks", `node:sqlite holds them in ${folder}`)];
    return [
      {
        title: "locks",
        state: "fail",
        what: `locks do not hold in ${folder}`,
        next: "Point XDG_STATE_HOME to a folder on a local disk",
      },
    ];
  } catch (error) {
    return [refusedRow("locks", "fail", error)];
  } finally {
    await files.remove(at).catch(() => undefined);
  }
}

export async function gitRow(context: AnywhereContext, signal: AbortSignal): Promise<readonly CheckRow[]> {
  const { process, machine, repository } = context;
  try {
    const binary = await findGit(process, userEnvironment(machine.env), signal);
    const version = repository.kind === "open" ? await repository.call.text(["version"]) : "git 2.38 or newer";
    return [ok("git", `${version.replace(/^git version /, "")} at ${binary}`)];
  } catch (error) {
    return [refusedRow("git", "fail", error)];
  }
}

export async function diskRow(context: AnywhereContext): Promise<readonly CheckRow[]> {
  const { machine, repository } = context;
  const places = [machine.stateDir, ...(repository.kind === "open" ? [repository.root] : [])];
  const spaces = await Promise.all(places.map((place) => diskSpace(place)));
  return spaces.map((space, index): CheckRow => {
    const place = places[index] ?? machine.stateDir;
    const title = index === 0 ? "disk, state" : "disk, repository";
    if (space === undefined) return ok(title, `${place}: the system does not tell how much is free`);
    const what = `${sizeText(space.freeBytes)} free at ${place}`;
    if (space.freeBytes >= scarceBytes) return ok(title, what);
    return {
      title,
      state: space.freeBytes < tooFewBytes ? "fail" : "warn",
      what,
      next: "Free some space: a run on a full disk is parked",
    };
  });
}

/** In binary units, one digit: `1.4 GiB`. */
function sizeText(bytes: number): string {
  const units = ["B", "KiB", "MiB", "GiB", "TiB"];
  let unit = 0;
  let size = bytes;
  for (; size >= 1024 && unit < units.length - 1; unit += 1) size /= 1024;
  return `${unit === 0 ? size : size.toFixed(1)} ${units[unit] ?? ""}`;
}
