import { parse } from "jsonc-parser";
import { OrchError } from "../model/error.ts";
import { Config } from "../model/config.ts";
import { readJson } from "../model/json-text.ts";
import type { ConfigValue } from "./context.ts";

/**
 * One validated settings object, each value with its source. A later layer wins key by key: defaults, the user's
 * config.json, the project's .orch/config.json. Who calls decides which bytes are trusted; this file only merges.
 */
export interface ConfigLayer {
  /** How the source is named to a person: a path. */
  readonly source: string;
  readonly text: string;
}

export interface ResolvedConfig {
  readonly config: Config;
  readonly sources: readonly ConfigValue[];
}

type Json = Record<string, unknown>;

/** @throws OrchError `config.invalid` with path and line; nothing of a broken file takes effect. */
export function resolveConfig(layers: readonly ConfigLayer[]): ResolvedConfig {
  let merged: Json = {};
  const origin = new Map<string, string>();
  for (const layer of layers) {
    const read = readJson(layer.text, Config, { trailingCommas: true });
    if (read.kind === "bad") {
      throw new OrchError("config.invalid", `${layer.source}:${read.fault.line}: ${read.fault.message}`, {
        data: { path: layer.source, line: read.fault.line },
      });
    }
    const written = onlyWritten(layer.text);
    for (const { key } of leaves(written)) origin.set(key, layer.source);
    merged = merge(merged, written);
  }
  const config = Config.parse(merged);
  const sources = leaves(config).map(({ key, value }) => ({ key, value, source: origin.get(key) ?? "default" }));
  return { config, sources };
}

/** The file's own keys, without the schema's defaults: a layer must not reset what it does not name. */
function onlyWritten(text: string): Json {
  const value: unknown = parse(text.startsWith("\uFEFF") ? text.slice(1) : text, [], { allowTrailingComma: true });
  return isObject(value) ? value : {};
}

function merge(below: Json, above: Json): Json {
  const out: Json = { ...below };
  for (const [key, value] of Object.entries(above)) {
    const old = out[key];
    out[key] = isObject(old) && isObject(value) ? merge(old, value) : value;
  }
  return out;
}

interface Leaf {
  readonly key: string;
  readonly value: unknown;
}

/** Every value that is no non-empty object, with its dotted key. */
function leaves(value: Json, prefix = ""): Leaf[] {
  return Object.entries(value).flatMap(([name, inner]) => {
    const key = prefix === "" ? name : `${prefix}.${name}`;
    return isObject(inner) && Object.keys(inner).length > 0 ? leaves(inner, key) : [{ key, value: inner }];
  });
}

function isObject(value: unknown): value is Json {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
