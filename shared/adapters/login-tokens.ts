import { type AbsPath, inRoot } from "../base/paths.ts";
import type { Files } from "../ports/files.ts";
import { type Json, numberAt, objectOf, textAt } from "./recipes/json-line.ts";

/** A login file of the person's, and the worker's copy of it. */
export interface SharedLogin {
  readonly real: AbsPath;
  /** Relative to the worker's home. */
  readonly copy: string;
  readonly home: AbsPath;
}

/**
 * pi and opencode keep every login in one file: `{ provider: { type: "oauth", access, refresh, expires } | ... }`. Other
 * entries of it can run something (a key that begins with `!`, a provider whose settings are fetched), so no worker may
 * write the person's file. But a refresh spends a token that only its answer replaces: the one who refreshed last, the
 * worker or the person, gives its tokens to the other side. Nothing else of an entry, and no entry, goes over.
 */
export async function shareTokens(files: Files, { real, copy: to, home }: SharedLogin): Promise<void> {
  const copy = inRoot(home, to);
  const own = await ownText(files, home, to);
  const theirs = await files.readText(real);
  if (theirs === undefined || own === undefined) return;
  const toReal = withNewerTokens(theirs, own);
  // Between two looks the person's own client may have written; then the next round decides.
  if (toReal !== undefined && (await files.readText(real)) === theirs) await files.write(real, toReal);
  const toCopy = withNewerTokens(own, theirs);
  if (toCopy !== undefined && (await ownText(files, home, to)) === own)
    await files.write(copy, toCopy, { mode: 0o600 });
}

/** The worker may have made a link of it or of a folder above it, to be read or written elsewhere. */
async function ownText(files: Files, home: AbsPath, to: string): Promise<string | undefined> {
  const at = inRoot(home, to);
  const top = await files.realPath(home);
  if (top === undefined || (await files.realPath(at)) !== inRoot(top, to)) return undefined;
  const stat = await files.stat(at);
  return stat?.kind === "file" && stat.sizeBytes <= maxBytes ? await files.readText(at) : undefined;
}

const maxBytes = 1_000_000;

/** `text` with the tokens of those OAuth entries that `other` holds too and that expire later there. */
export function withNewerTokens(text: string, other: string): string | undefined {
  const [into, from] = [entriesOf(text), entriesOf(other)];
  if (into === undefined || from === undefined) return undefined;
  let changed = false;
  const out: Record<string, unknown> = { ...into };
  for (const name of Object.keys(into)) {
    const tokens = Object.hasOwn(from, name) ? tokensOf(from[name]) : undefined;
    const known = tokensOf(into[name]);
    if (tokens === undefined || known === undefined || tokens.expires <= known.expires) continue;
    Object.defineProperty(out, name, {
      value: { ...(into[name] as Json), ...tokens },
      enumerable: true,
      configurable: true,
      writable: true,
    });
    changed = true;
  }
  return changed ? `${JSON.stringify(out, null, 2)}\n` : undefined;
}

const entriesOf = (text: string): Json | undefined => objectOf(text.replace(/^\uFEFF/, "").trim());

interface Tokens {
  readonly access: string;
  readonly refresh: string;
  readonly expires: number;
}

/** A token is one word; anything that a client could take for a command or a variable is none. */
const token = /^[A-Za-z0-9._~+/=|:;,@-]{1,20000}$/;

function tokensOf(entry: unknown): Tokens | undefined {
  if (textAt(entry, "type") !== "oauth") return undefined;
  const [access, refresh, expires] = [textAt(entry, "access"), textAt(entry, "refresh"), numberAt(entry, "expires")];
  if (access === undefined || refresh === undefined || expires === undefined) return undefined;
  return token.test(access) && token.test(refresh) ? { access, refresh, expires } : undefined;
}
