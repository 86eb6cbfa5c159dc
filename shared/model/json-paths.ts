import { type Node, parseTree } from "jsonc-parser";
import { lineAt } from "../base/lines.ts";

/** One value of a JSON text: `path` is its keys joined by dots, `items` the strings of an array. */
export interface JsonPath {
  readonly path: string;
  readonly value: string;
  readonly items: readonly string[];
  readonly line: number;
}

/** Every value that is no object, with its place; as much as can be read of a text that is broken. */
export function jsonPaths(text: string): JsonPath[] {
  const found: JsonPath[] = [];
  const root = parseTree(text, [], { allowTrailingComma: true, disallowComments: false });
  const visit = (node: Node, path: string): void => {
    if (node.type === "object") {
      for (const property of node.children ?? []) {
        const [key, value] = property.children ?? [];
        if (key !== undefined && value !== undefined)
          visit(value, path === "" ? String(key.value) : `${path}.${String(key.value)}`);
      }
      return;
    }
    const items = node.type === "array" ? (node.children ?? []).map((one) => textOf(one, text)) : [];
    found.push({ path, value: textOf(node, text), items, line: lineAt(text, node.offset) });
    for (const one of node.type === "array" ? (node.children ?? []) : []) if (one.type === "object") visit(one, path);
  };
  if (root) visit(root, "");
  return found;
}

function textOf(node: Node, text: string): string {
  return typeof node.value === "string" ? node.value : text.slice(node.offset, node.offset + node.length);
}
