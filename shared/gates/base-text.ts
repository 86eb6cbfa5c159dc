import { repoPath } from "../base/paths.ts";
import type { ChangedFile } from "../model/change.ts";
import type { GateInput } from "../ports/gate.ts";

/**
 * The text a changed file had, from the one it has: the change says what stood where. Asking git for each file costs a
 * process each. Line ends are LF. undefined where the change does not tell (binary, not there, another kind of file).
 */
function oldText(file: ChangedFile, now: string | undefined): string | undefined {
  if (file.binary || file.oldMode === "000000" || !file.oldMode.startsWith("100")) return undefined;
  if (file.newMode === "000000") return `${file.hunks.flatMap(({ removed }) => removed).join("\n")}\n`;
  if (now === undefined || !file.newMode.startsWith("100")) return undefined;
  const lines = now.split("\n");
  const out: string[] = [];
  let at = 0;
  for (const { newStart, added, removed } of file.hunks) {
    // A hunk that adds nothing names the line after which it removed.
    const start = added.length === 0 ? newStart : newStart - 1;
    if (start < at || start > lines.length) return undefined;
    for (; at < start; at += 1) out.push(lines[at] ?? "");
    for (const line of removed) out.push(line);
    at += added.length;
  }
  for (; at < lines.length; at += 1) out.push(lines[at] ?? "");
  return out.join("\n");
}

export interface Sides {
  readonly before: string | undefined;
  readonly now: string | undefined;
}

type Reading = Pick<GateInput, "read" | "readBase">;

/** Texts up to this length, which no gate finds too long, are kept for the one that asks next. */
const keptChars = 150_000;
/** A change is read anew for each attempt, so its files are what they were as long as it is judged. */
const known = new WeakMap<ChangedFile, Sides>();

/** Both texts of a changed file, of a size that is worth reading; git is asked only where the change does not tell. */
export async function sidesOf(file: ChangedFile, input: Reading, maxBytes: number): Promise<Sides> {
  const kept = known.get(file);
  if (kept !== undefined) return kept;
  const sides = await readSides(file, input, maxBytes);
  if (isKept(sides.before, file.oldMode) && isKept(sides.now, file.newMode)) known.set(file, sides);
  return sides;
}

function isKept(text: string | undefined, mode: string): boolean {
  return text === undefined ? !mode.startsWith("100") : text.length <= keptChars;
}

async function readSides(file: ChangedFile, input: Reading, maxBytes: number): Promise<Sides> {
  const read = async (side: "read" | "readBase", name: string): Promise<string | undefined> => {
    const at = repoPath(name);
    const bytes = at === undefined ? undefined : await input[side](at);
    if (bytes === undefined || bytes.length > maxBytes) return undefined;
    return new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes).replace(/\r\n?/g, "\n");
  };
  const now = file.newMode.startsWith("100") ? await read("read", file.path) : undefined;
  if (!file.oldMode.startsWith("100")) return { before: undefined, now };
  return { before: oldText(file, now) ?? (await read("readBase", file.oldPath ?? file.path)), now };
}
