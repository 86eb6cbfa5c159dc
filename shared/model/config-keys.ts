import * as z from "zod";
import { Config } from "./config.ts";

/** A setting as config.json's schema knows it. */
export interface KnownSetting {
  /** Dotted. `<name>` stands for any name: `rules.<name>`. */
  readonly key: string;
  /** For a person: `integer`, `true or false`, `off, warn or fail`. */
  readonly takes: string;
}

interface Node {
  readonly type?: string;
  readonly enum?: readonly string[];
  readonly properties?: Readonly<Record<string, Node>>;
  readonly additionalProperties?: Node | boolean;
  readonly items?: Node;
}

/** Every setting that can be written, in the schema's order. */
export function knownSettings(): readonly KnownSetting[] {
  const schema = z.toJSONSchema(Config, { io: "input", unrepresentable: "any" }) as Node;
  return below(schema, "").filter(({ key }) => key !== "$schema");
}

function below(node: Node, key: string): KnownSetting[] {
  const join = (name: string): string => (key === "" ? name : `${key}.${name}`);
  const named = Object.entries(node.properties ?? {}).flatMap(([name, inner]) => below(inner, join(name)));
  const { additionalProperties: rest } = node;
  const free = typeof rest === "object" ? below(rest, join("<name>")) : [];
  return named.length + free.length > 0 ? [...named, ...free] : [{ key, takes: takes(node) }];
}

function takes({ type, enum: words, items }: Node): string {
  if (words !== undefined) return `${words.slice(0, -1).join(", ")} or ${words.at(-1)}`;
  if (type === "boolean") return "true or false";
  if (type === "array") return `list of ${items?.type ?? "any"}`;
  return type ?? "anything";
}
