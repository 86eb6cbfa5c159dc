import { findNodeAtLocation, parseTree } from "jsonc-parser";
import { lineAt } from "../base/lines.ts";

export type JsonKeys = readonly (string | number)[];

/** 1-based lines of what stands at some keys; of what is not there, that of the nearest thing around it. */
export function jsonPlaces(text: string): (keys: JsonKeys) => number {
  const root = parseTree(text, [], { allowTrailingComma: true, disallowComments: false });
  return (keys) => {
    for (let length = keys.length; root !== undefined && length > 0; length -= 1) {
      const node = findNodeAtLocation(root, [...keys.slice(0, length)]);
      if (node !== undefined) return lineAt(text, node.offset);
    }
    return root === undefined ? 1 : lineAt(text, root.offset);
  };
}
