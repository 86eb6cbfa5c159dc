import { OrchError } from "../model/error.ts";
import type { TrashManifest } from "../model/trash.ts";
import type { Clock } from "../ports/clock.ts";
import type { Ids } from "../ports/ids.ts";
import type { Trash, TrashItem } from "../ports/trash.ts";
import { decode, type GitCall } from "./git-call.ts";
import { checkedRef } from "./git-names.ts";
import { itemOf, parseManifest, tipRefs, trashRefs } from "./trash-manifest.ts";
import { removeStored } from "./trash-remove.ts";
import { restore } from "./trash-restore.ts";
import { keepOnly, store } from "./trash-store.ts";

export interface TrashDeps {
  /** Of `openGit`, for the same checkout. */
  readonly call: GitCall;
  readonly clock: Pick<Clock, "now">;
  readonly ids: Ids;
}

/**
 * One tree for each entry, on a ref that no push of ours and no `push --all` takes along and no log shows: raw blobs under
 * `blobs/<oid>`, `manifest.json` beside them. Branch tips have refs of their own, so that their commits stay.
 */
export function createTrash({ call, clock, ids }: TrashDeps): Trash {
  const look = async (id: string): Promise<TrashManifest> => {
    if (!/^[A-Za-z0-9][A-Za-z0-9-]*$/.test(id)) throw unknown(id);
    const text = await readManifest(call, id);
    if (text === undefined) throw unknown(id);
    const manifest = parseManifest(text);
    if (manifest?.id === id) return manifest;
    throw new OrchError("trash.damaged", `the entry ${id} cannot be read`, { data: { id } });
  };
  return {
    store: (order) => store(call, order, ids.next("trash"), clock.now()),
    look,
    async list() {
      const refs = await call.text(["for-each-ref", "--format=%(refname)", trashRefs]);
      const items: TrashItem[] = [];
      for (const ref of refs.split("\n").filter((line) => line !== "")) {
        const id = ref.slice(trashRefs.length);
        const text = await readManifest(call, id);
        const manifest = text === undefined ? undefined : parseManifest(text);
        items.push(
          manifest === undefined
            ? { id, by: "unknown", what: "damaged entry", at: 0, files: 0, bytes: 0, branches: [], kept: [] }
            : itemOf(manifest),
        );
      }
      return items.toSorted((a, b) => b.at - a.at || (a.id < b.id ? 1 : -1));
    },
    keepOnly: async (id, paths) => keepOnly(call, await look(id), paths),
    removeStored: async (id) => removeStored(call, await look(id)),
    restore: async (id) => restore(call, await look(id)),
    async purge(ids) {
      const gone: string[] = [];
      for (const id of ids) {
        const ref = checkedRef(`${trashRefs}${id}`);
        const now = await call.maybe(["rev-parse", "--verify", "--quiet", ref]);
        if (now === undefined) continue;
        const tips = await call.text(["for-each-ref", "--format=%(refname) %(objectname)", `${tipRefs}${id}/`]);
        const lines = [`${ref} ${now}`, ...tips.split("\n").filter((line) => line !== "")];
        const stdin = lines.map((line) => `delete ${line}\n`).join("");
        if ((await call.answer(["update-ref", "--stdin"], { stdin })).code === 0) gone.push(id);
      }
      return gone;
    },
  };
}

async function readManifest(call: GitCall, id: string): Promise<string | undefined> {
  const answer = await call.answer(["cat-file", "blob", `${trashRefs}${id}:manifest.json`]);
  if (answer.code === 0) return decode(answer.stdout);
  const there = await call.maybe(["rev-parse", "--verify", "--quiet", `${trashRefs}${id}`]);
  return there === undefined ? undefined : "";
}

function unknown(id: string): OrchError {
  return new OrchError("trash.unknown", `nothing is stored as ${id}`, { data: { id } });
}
