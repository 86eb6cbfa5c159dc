import { count } from "../../base/lines.ts";
import { nearMisses } from "../../features/names.ts";
import { inRoot } from "../../base/paths.ts";
import { type KnownSetting, knownSettings } from "../../model/config-keys.ts";
import { isOrchError, OrchError } from "../../model/error.ts";
import type { AnywhereContext, AnywhereHandler } from "../anywhere.ts";
import { userFile } from "../anywhere.ts";
import { resolveConfig } from "../config.ts";
import { projectConfigPath } from "../config-layers.ts";
import type { ConfigValue } from "../context.ts";

/** The document of `config explain --json`. */
export interface ConfigData {
  readonly values: readonly ExplainedValue[];
  readonly files: readonly ConfigSource[];
  readonly text: readonly string[];
}

export interface ExplainedValue {
  readonly key: string;
  /** null: not set, and nothing stands in for it. */
  readonly value: unknown;
  /** `default`, or the path of the file. */
  readonly source: string;
  readonly takes: string;
  /** What the project's untrusted file says instead; it has no effect. */
  readonly untrusted?: unknown;
}

export interface ConfigSource {
  readonly path: string;
  readonly state: "in effect" | "not there" | "not trusted";
}

/** @throws OrchError `config.invalid`, `config.unknown-key` with near misses, `usage.invalid` */
export const config: AnywhereHandler = async (context, args) => {
  const [action = "explain", wanted] = args.words;
  if (action !== "explain") {
    throw new OrchError(
      "usage.invalid",
      `config explains, it does not ${action}; settings are written in their files`,
      {
        data: { command: "config" },
      },
    );
  }
  if (context.settings.broken !== undefined) throw context.settings.broken;
  const waiting = await untrustedValues(context);
  const all = explained(context.settings.sources, waiting.values);
  const values = wanted === undefined ? all : chosen(all, wanted);
  const files = await sourcesOf(context, waiting);
  const unused = values.filter((value) => "untrusted" in value).length;
  const set = values.filter(({ source }) => source !== "default").length;
  return {
    ok: true,
    code: 0,
    summary: [
      values.length === 1 && values[0] !== undefined
        ? lineOf(values[0])
        : `${count(values.length, "setting")}, ${set} set`,
      ...(unused === 0 ? [] : [`${count(unused, "value")} of ${projectConfigPath} without effect: it is not trusted`]),
    ].join("; "),
    next: waiting.state === "not trusted" ? ["orch trust"] : [],
    data: { values, files, text: linesOf(values, files, waiting.fault) } satisfies ConfigData,
  };
};

interface Waiting {
  readonly state: ConfigSource["state"];
  readonly values: readonly ConfigValue[];
  /** Why the untrusted file could not take effect even when it were trusted. */
  readonly fault?: string;
}

/** What the project's file would set were it trusted. It is only shown. */
async function untrustedValues({ files, repository }: AnywhereContext): Promise<Waiting> {
  if (repository.kind === "none") return { state: "not there", values: [] };
  const at = inRoot(repository.root, projectConfigPath);
  if ((await files.stat(at)) === undefined) return { state: "not there", values: [] };
  if ((await repository.trust.trustedFile(projectConfigPath)) !== undefined) return { state: "in effect", values: [] };
  const text = (await files.readText(at)) ?? "";
  try {
    const { sources } = resolveConfig([{ source: at, text }]);
    return { state: "not trusted", values: sources.filter(({ source }) => source === at) };
  } catch (error) {
    if (!isOrchError(error)) throw error;
    return { state: "not trusted", values: [], fault: error.message };
  }
}

function explained(sources: readonly ConfigValue[], untrusted: readonly ConfigValue[]): readonly ExplainedValue[] {
  const known = knownSettings();
  const written = new Map(sources.map((row) => [row.key, row]));
  const waiting = new Map(untrusted.map((row) => [row.key, row.value]));
  const keys = [
    ...known.map(({ key }) => key).filter((key) => !key.includes("<name>")),
    ...written.keys(),
    ...waiting.keys(),
  ];
  return [...new Set(keys)].map((key) => {
    const row = written.get(key);
    return {
      key,
      value: row?.value ?? null,
      source: row?.source ?? "default",
      takes: takesOf(known, key),
      ...(waiting.has(key) ? { untrusted: waiting.get(key) } : {}),
    };
  });
}

function takesOf(known: readonly KnownSetting[], key: string): string {
  const parts = key.split(".");
  const fits = known.find(({ key: pattern }) => {
    const names = pattern.split(".");
    return names.length === parts.length && names.every((name, index) => name === "<name>" || name === parts[index]);
  });
  return fits?.takes ?? (known.some(({ key: pattern }) => pattern.startsWith(`${key}.`)) ? "object" : "anything");
}

function chosen(all: readonly ExplainedValue[], wanted: string): readonly ExplainedValue[] {
  const exact = all.filter(({ key }) => key === wanted);
  if (exact.length > 0) return exact;
  const group = all.filter(({ key }) => key.startsWith(`${wanted}.`));
  if (group.length > 0) return group;
  // A rule or a provider that nobody set is still a setting that could be.
  const takes = takesOf(knownSettings(), wanted);
  if (takes !== "anything" && takes !== "object") return [{ key: wanted, value: null, source: "default", takes }];
  const groups = all.flatMap(({ key }) => key.split(".").map((_, end, parts) => parts.slice(0, end + 1).join(".")));
  const near = nearSettings(wanted, [...new Set(groups)]);
  throw new OrchError("config.unknown-key", `there is no setting ${wanted}`, {
    data: near.length === 0 ? {} : { near: near.join(", ") },
  });
}

/** The whole key may be near, or its last part: people forget the group. */
function nearSettings(wanted: string, keys: readonly string[]): readonly string[] {
  const last = (key: string): string => key.slice(key.lastIndexOf(".") + 1);
  const byLast = nearMisses(last(wanted), keys.map(last));
  const same = keys.filter((key) => last(key) === last(wanted) && key !== wanted);
  const named = keys.filter((key) => byLast.includes(last(key)));
  return [...new Set([...same, ...nearMisses(wanted, keys), ...named])].slice(0, 3);
}

async function sourcesOf(context: AnywhereContext, waiting: Waiting): Promise<readonly ConfigSource[]> {
  const user = userFile(context, "config.json");
  const there = (await context.files.stat(user)) !== undefined;
  const files: ConfigSource[] = [{ path: user, state: there ? "in effect" : "not there" }];
  if (context.repository.kind === "open")
    files.push({ path: inRoot(context.repository.root, projectConfigPath), state: waiting.state });
  return files;
}

function lineOf({ key, value, source }: ExplainedValue): string {
  return `${key} = ${value === null ? "not set" : JSON.stringify(value)} (${source})`;
}

function linesOf(
  values: readonly ExplainedValue[],
  files: readonly ConfigSource[],
  fault: string | undefined,
): readonly string[] {
  const width = Math.max(...values.map(({ key }) => key.length));
  const words = values.map(({ value }) => (value === null ? "not set" : JSON.stringify(value)));
  const wordWidth = Math.min(40, Math.max(...words.map((word) => word.length)));
  return [
    ...values.flatMap(({ key, source, takes, ...rest }, index) => [
      `${key.padEnd(width)}  ${(words[index] ?? "").padEnd(wordWidth)}  ${source}`,
      ...(values.length === 1 ? [`  takes: ${takes}`] : []),
      ...("untrusted" in rest
        ? [`  ${projectConfigPath} says ${JSON.stringify(rest.untrusted)}, without effect: not trusted`]
        : []),
    ]),
    "Files, a later one wins",
    ...files.map(({ path, state }) => `  ${path}: ${state}`),
    ...(fault === undefined ? [] : [`  ${fault}`]),
  ];
}
