import { type AbsPath, absPath, inRoot } from "../base/paths.ts";
import { OrchError } from "../model/error.ts";
import type { Files } from "../ports/files.ts";

/**
 * A private agent folder for one call of pi: our settings (its own retries off), the user's logins and models. Orch
 * writes nothing into the user's folder. `auth.json` and `models.json` are links, because a copy of a login goes stale:
 * a refresh spends the single-use token, and only the file that pi itself writes through the link keeps the new one.
 */
export interface PiHome extends AsyncDisposable {
  readonly dir: AbsPath;
  /** An empty folder to run in: no project of the user's is looked at. */
  readonly work: AbsPath;
  readonly systemPrompt: AbsPath;
}

export interface PiHomeOrder {
  /** A new folder is made here; its name is the caller's to choose. */
  readonly at: AbsPath;
  readonly userDir: AbsPath;
  readonly timeoutMs: number;
  readonly systemPrompt: string;
}

const linked = ["auth.json", "models.json"] as const;
/** Model catalogues that pi fetched; it may write this file, so it gets a copy. */
const copied = ["models-store.json"] as const;

export async function createPiHome(files: Files, order: PiHomeOrder): Promise<PiHome> {
  try {
    return await makePiHome(files, order);
  } catch (error) {
    await files.remove(order.at);
    throw error;
  }
}

async function makePiHome(files: Files, order: PiHomeOrder): Promise<PiHome> {
  const { at, userDir } = order;
  const dir = inRoot(at, "agent");
  const work = inRoot(at, "work");
  const systemPrompt = inRoot(at, "system.md");
  for (const folder of [at, dir, work]) await files.makeDir(folder, { mode: 0o700 });
  for (const name of linked) {
    const real = await files.realPath(inRoot(userDir, name));
    if (real !== undefined) await share(files, real, inRoot(dir, name));
  }
  for (const name of copied) {
    const bytes = await files.read(inRoot(userDir, name));
    if (bytes !== undefined) await files.write(inRoot(dir, name), bytes, { mode: 0o600 });
  }
  const settings = settingsOf(order.timeoutMs, await files.readText(inRoot(userDir, "settings.json")));
  await files.write(inRoot(dir, "settings.json"), JSON.stringify(settings), { mode: 0o600 });
  await files.write(systemPrompt, order.systemPrompt, { mode: 0o600 });
  return { dir, work, systemPrompt, [Symbol.asyncDispose]: () => files.remove(at) };
}

/** Windows may forbid links. A copy will do then, but never of a login that refreshes itself: see above. */
async function share(files: Files, from: AbsPath, at: AbsPath): Promise<void> {
  try {
    await files.symlink(from, at);
  } catch (error) {
    const text = (await files.readText(from)) ?? "";
    if (/"type"\s*:\s*"oauth"/.test(text)) {
      throw new OrchError(
        "path.refused",
        `${from} holds a login that only a link can share, and links are not allowed here`,
        { cause: error },
      );
    }
    await files.write(at, text, { mode: 0o600 });
  }
}

/**
 * Each call is one request: the chain owns retries and time. Only the way to the network is taken from the user's
 * settings.
 */
function settingsOf(timeoutMs: number, userText: string | undefined): unknown {
  const proxy = readJson(userText)["httpProxy"];
  return {
    retry: { enabled: false, provider: { maxRetries: 0, timeoutMs } },
    httpIdleTimeoutMs: timeoutMs,
    compaction: { enabled: false },
    enableInstallTelemetry: false,
    ...(typeof proxy === "string" ? { httpProxy: proxy } : {}),
  };
}

/** `PI_CODING_AGENT_DIR`, else `~/.pi/agent`; undefined without a home. */
export function piUserDir(env: Readonly<Record<string, string>>): AbsPath | undefined {
  const home = env["HOME"] ?? env["USERPROFILE"];
  const named = env["PI_CODING_AGENT_DIR"];
  if (named !== undefined && named !== "") {
    const path = named === "~" || named.startsWith("~/") ? `${home ?? ""}${named.slice(1)}` : named;
    return toAbs(path);
  }
  return home === undefined || home === "" ? undefined : toAbs(`${home}/.pi/agent`);
}

function toAbs(path: string): AbsPath | undefined {
  try {
    return absPath(path);
  } catch {
    return undefined;
  }
}

/** Names of environment variables that the user's own pi files refer to as `$NAME` or `${NAME}`. */
export async function namedVariables(files: Files, userDir: AbsPath): Promise<readonly string[]> {
  const names = new Set<string>();
  for (const name of linked) {
    const text = (await files.readText(inRoot(userDir, name))) ?? "";
    for (const match of text.matchAll(/\$\{?([A-Za-z_][A-Za-z0-9_]*)\}?/g))
      if (match[1] !== undefined) names.add(match[1]);
  }
  return [...names];
}

function readJson(text: string | undefined): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text ?? "");
    return typeof value === "object" && value !== null ? { ...value } : {};
  } catch {
    return {};
  }
}
