import { createHash } from "node:crypto";
import type { RepoPath } from "../base/paths.ts";
import type { Change, ChangedFile, DiffHunk } from "../model/change.ts";
import { decode, type GitCall } from "./git-call.ts";
import { checkedRevision, fromGit, nulFields } from "./git-names.ts";
import { parsePatch } from "./git-patch.ts";

const common = [
  ...["diff", "--no-color", "--no-ext-diff", "--no-textconv", "--ignore-submodules=none", "--submodule=short"],
  ...[
    "--no-relative",
    "-M",
    "--no-rename-empty",
    "-l1000",
    "-O/dev/null",
    "--src-prefix=a/",
    "--dst-prefix=b/",
    "--diff-algorithm=default",
  ],
] as const;
const machine = [
  ...common,
  ...["--raw", "--numstat", "-z", "--no-abbrev"],
  ...["-p", "--binary", "--full-index", "-U3", "--inter-hunk-context=0"],
] as const;
/** No option says this one: an empty line of the file would stand in the patch without its blank. */
const settings = [["diff.suppressBlankEmpty", "false"]] as const;

/** One call of git, for what is judged and for the patch to apply; a second for text that an attribute hides. */
export async function diffTrees(git: GitCall, base: string, tree: string, signal?: AbortSignal): Promise<Change> {
  const options = { settings, ...(signal === undefined ? {} : { signal }) };
  const range = ["--end-of-options", checkedRevision(base), checkedRevision(tree)];
  const { records, patch } = parseMachineDiff(await git.bytes([...machine, ...range], options));
  const hidden = await hiddenText(git, records);
  const shown = new Map<string, DiffRecord>();
  if (hidden.length > 0) {
    const paths = hidden.flatMap((record) => [record.path, ...(record.oldPath === undefined ? [] : [record.oldPath])]);
    // Names that are no UTF-8 cannot be said on the command line; then every file is read as text and picked from.
    const limit = paths.some((name) => !isUtf8(name)) ? [] : ["--", ...paths.map(decode)];
    const again = await git.bytes([...machine, "--text", ...range, ...limit], options);
    for (const record of parseMachineDiff(again).records) shown.set(keyOf(record), counted(record));
  }
  const files = records.map((record) =>
    toChangedFile(hidden.includes(record) ? (shown.get(keyOf(record)) ?? record) : record),
  );
  return { base, tree, files, diffHash: createHash("sha256").update(patch).digest("hex"), patch };
}

/** Names alone, without reading a file: two far branches may differ in more than anybody wants to see. */
export async function changedPaths(
  git: GitCall,
  from: string,
  to: string,
): Promise<readonly { readonly path: RepoPath; readonly added: boolean }[]> {
  const args = ["diff-tree", "-r", "-z", "--name-status", "--no-renames", "--end-of-options"];
  const fields = nulFields(await git.bytes([...args, checkedRevision(from), checkedRevision(to)]));
  const changed: { path: RepoPath; added: boolean }[] = [];
  for (let at = 0; at + 1 < fields.length; at += 2) {
    changed.push({ path: fromGit(fields[at + 1] ?? ""), added: fields[at] === "A" });
  }
  return changed;
}

interface DiffRecord {
  readonly status: string;
  readonly oldMode: string;
  readonly newMode: string;
  readonly oldOid: string;
  readonly newOid: string;
  readonly path: Uint8Array;
  readonly oldPath?: Uint8Array;
  readonly added: number | undefined;
  readonly removed: number | undefined;
  readonly hunks: readonly DiffHunk[];
}

/**
 * `--raw --numstat -p -z`: raw records, numstat records, one NUL, then the patch, whose sections come in the order of the
 * raw records (a type change has two). Names come from the records alone, so contents cannot forge them.
 */
function parseMachineDiff(out: Uint8Array): { readonly records: readonly DiffRecord[]; readonly patch: Uint8Array } {
  const reader = new NulReader(out);
  const raw: Omit<DiffRecord, "added" | "removed" | "hunks">[] = [];
  while (reader.peek() === colon) {
    const [oldMode = "", newMode = "", oldOid = "", newOid = "", letter = ""] = decode(reader.next())
      .slice(1)
      .split(" ");
    const status = letter.charAt(0);
    const first = reader.next();
    const both = status === "R" || status === "C";
    raw.push({
      status,
      oldMode,
      newMode,
      oldOid,
      newOid,
      path: both ? reader.next() : first,
      ...(both ? { oldPath: first } : {}),
    });
  }
  const counts = raw.map(() => {
    const [added = "", removed = "", name = ""] = decode(reader.next()).split("\t");
    if (name === "") {
      reader.next();
      reader.next();
    }
    return { added: countOf(added), removed: countOf(removed) };
  });
  if (reader.peek() === 0) reader.next();
  const patch = reader.rest();
  const sections = parsePatch(patch);
  let at = 0;
  const records = raw.map((record, n) => {
    const take = record.status === "T" ? 2 : 1;
    const hunks = sections.slice(at, at + take).flat();
    at += take;
    return { ...record, added: counts[n]?.added, removed: counts[n]?.removed, hunks };
  });
  return { records, patch };
}

const colon = 58;
const countOf = (text: string): number | undefined => (text === "-" ? undefined : Number(text));
const keyOf = (record: DiffRecord): string => `${record.status}\0${Buffer.from(record.path).toString("latin1")}`;

class NulReader {
  readonly #bytes: Uint8Array;
  #at = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  peek(): number | undefined {
    return this.#bytes[this.#at];
  }

  next(): Uint8Array {
    const end = this.#bytes.indexOf(0, this.#at);
    const stop = end === -1 ? this.#bytes.length : end;
    const field = this.#bytes.slice(this.#at, stop);
    this.#at = Math.min(stop + 1, this.#bytes.length);
    return field;
  }

  rest(): Uint8Array {
    return this.#bytes.subarray(this.#at);
  }
}

/** Files that numstat calls binary although no NUL stands in their first bytes: an attribute hides them from reviewers. */
async function hiddenText(git: GitCall, records: readonly DiffRecord[]): Promise<readonly DiffRecord[]> {
  const out: DiffRecord[] = [];
  for (const record of records) {
    if (record.added !== undefined || record.newMode === "160000" || record.oldMode === "160000") continue;
    const sides = [record.oldOid, record.newOid].filter((oid) => !/^0+$/.test(oid));
    const texts = await Promise.all(sides.map((oid) => isText(git, oid)));
    if (texts.every(Boolean)) out.push(record);
  }
  return out;
}

/** numstat goes on calling it binary; its lines are there to be counted. */
function counted(record: DiffRecord): DiffRecord {
  const lines = (side: "added" | "removed"): number => record.hunks.reduce((sum, hunk) => sum + hunk[side].length, 0);
  return { ...record, added: lines("added"), removed: lines("removed") };
}

const looksAtBytes = 8000;

async function isText(git: GitCall, oid: string): Promise<boolean> {
  // As git looks: at the first bytes. More of a big one is not read: the program is ended there.
  const { stdout } = await git.answer(["cat-file", "blob", oid], {
    startsPrograms: true,
    maxOutputBytes: looksAtBytes,
  });
  return !stdout.includes(0);
}

function isUtf8(name: Uint8Array): boolean {
  return Buffer.from(decode(name), "utf8").equals(name);
}

const statuses: Readonly<Record<string, ChangedFile["status"]>> = {
  A: "added",
  M: "modified",
  D: "deleted",
  R: "renamed",
  C: "copied",
  T: "type-changed",
};

function toChangedFile(record: DiffRecord): ChangedFile {
  const binary = record.added === undefined || record.removed === undefined;
  return {
    status: statuses[record.status] ?? "modified",
    path: decode(record.path),
    ...(record.oldPath === undefined ? {} : { oldPath: decode(record.oldPath) }),
    ...(isUtf8(record.path) ? {} : { rawPath: Buffer.from(record.path).toString("base64") }),
    oldMode: record.oldMode,
    newMode: record.newMode,
    ...(record.added === undefined ? {} : { added: record.added }),
    ...(record.removed === undefined ? {} : { removed: record.removed }),
    binary,
    hunks: record.hunks,
  };
}
