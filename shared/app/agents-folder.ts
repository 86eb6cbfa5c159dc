import { type AbsPath, inRoot } from "../base/paths.ts";
import { quotedWord } from "../base/shell-word.ts";
import type { MachineContext } from "./context.ts";

/**
 * `agents/` in the user's state folder: what every project's `.agents` leads to. It stays where it is when Orch is
 * updated; each command points it at the installation it runs from.
 */
export const agentsNames = ["orch", "rules", "personas"] as const;

export function agentsFolder(stateDir: AbsPath): AbsPath {
  return inRoot(stateDir, "agents");
}

type Parts = Pick<MachineContext, "files" | "ids" | "machine">;

/** Looks at three names and writes only what is another installation's. */
export async function pointAgentsHere(context: Parts): Promise<AbsPath> {
  const { files, machine } = context;
  const folder = agentsFolder(machine.stateDir);
  await files.makeDir(folder, { mode: 0o700 });
  for (const [name, text] of launchers(machine.installRoot, machine.platform)) {
    const place = inRoot(folder, name);
    if ((await files.readText(place)) !== text) await files.write(place, text, { mode: 0o755 });
  }
  for (const name of ["rules", "personas"] as const) await pointLink(context, folder, name);
  return folder;
}

async function pointLink({ files, ids, machine }: Parts, folder: AbsPath, name: string): Promise<void> {
  const place = inRoot(folder, name);
  const wanted = inRoot(machine.installRoot, name);
  if (sameTarget(await files.readLink(place), wanted)) return;
  const aside = inRoot(folder, `.${name}.${ids.next("marker")}`);
  await files.linkFolder(wanted, aside);
  // A junction cannot take another one's place on Windows.
  if (machine.platform === "win32") await files.remove(place);
  await files.rename(aside, place);
}

/** The system may hand a link back with other slashes, or one at its end. */
export function sameTarget(link: string | undefined, wanted: AbsPath): boolean {
  const plain = (path: string): string => path.replaceAll("\\", "/").replace(/\/+$/, "");
  return link !== undefined && plain(link) === plain(wanted);
}

/**
 * The launcher as a script of its own: it needs no executable bit in the installation, and it finds the next version of
 * an editor's extension when the one that wrote it is gone.
 */
function launchers(installRoot: AbsPath, platform: "posix" | "win32"): readonly (readonly [string, string])[] {
  const main = inRoot(installRoot, "dist/cli/orch.cjs");
  if (platform === "win32") {
    return [["orch.cmd", `@echo off\r\nnode "${main.replaceAll("/", "\\")}" %*\r\n`]];
  }
  const versions = /^(.*-)\d+\.\d+\.\d+[^/]*$/.exec(installRoot)?.[1];
  const others = versions === undefined ? "" : ` ${quotedWord(versions)}*/dist/cli/orch.cjs`;
  const script = `#!/bin/sh
# Orch's launcher. Every orch command keeps it up to date.
main=${quotedWord(main)}
[ -f "$main" ] || for newer in${others}; do main=$newer; done
if [ -f "$main" ]; then
  exec "\${ORCH_NODE:-node}" "$main" "$@"
fi
echo "Orch is not at ${main.replaceAll(/["\\$`]/g, "_")} any more." >&2
echo "Next: run any orch command of the installed version once, and this launcher finds it." >&2
exit 5
`;
  return [["orch", script]];
}
