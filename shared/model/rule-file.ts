import { findNodeAtLocation, type Node, parseTree } from "jsonc-parser";
import type { z } from "zod";
import { lineAt } from "../base/lines.ts";
import { type JsonFault, readJson } from "./json-text.ts";
import { Rule, RuleFile, type RuleGroup, ruleGroups } from "./rule.ts";
import { schemaIssue } from "./schema-issue.ts";

/** One check of a rule file: `line` is where it begins, `id` what it calls itself, if it says so. */
export type ReadCheck =
  | { readonly kind: "rule"; readonly line: number; readonly rule: Rule }
  | { readonly kind: "bad"; readonly line: number; readonly id?: string; readonly reason: string };

export type ReadRuleFile =
  | { readonly kind: "ok"; readonly file: RuleFile; readonly checks: readonly ReadCheck[] }
  | { readonly kind: "bad"; readonly fault: JsonFault };

/**
 * Reads a rule file. A check that is wrong is named by line and does not spoil its neighbours. With `groups`, checks of
 * other groups are left out unread.
 */
export function readRuleFile(text: string, groups?: readonly RuleGroup[]): ReadRuleFile {
  const read = readJson(text, RuleFile);
  if (read.kind === "bad") return read;
  const body = text.startsWith("\uFEFF") ? text.slice(1) : text;
  let tree: Node | undefined;
  // Finding places costs more than everything else, and only faults need them.
  const lineOf = (path: readonly (string | number)[]): number => {
    const root = (tree ??= parseTree(body, [], { disallowComments: false }));
    for (let length = path.length; root && length > 0; length -= 1) {
      const node = findNodeAtLocation(root, path.slice(0, length));
      if (node) return lineAt(body, node.offset);
    }
    return 1;
  };
  const checks = read.value.checks.flatMap((check, index): ReadCheck[] => {
    if (groups !== undefined && isOfAnother(check, groups)) return [];
    const parsed = Rule.safeParse(check);
    if (parsed.success) {
      const rule = {
        kind: "rule",
        rule: parsed.data,
        get line() {
          return lineOf(["checks", index]);
        },
      } as const;
      return [rule];
    }
    const { path, reason } = worst(parsed.error.issues[0], check);
    const id = idOf(check);
    return [{ kind: "bad", line: lineOf(["checks", index, ...path]), ...(id === undefined ? {} : { id }), reason }];
  });
  return { kind: "ok", file: read.value, checks };
}

function isOfAnother(check: unknown, groups: readonly RuleGroup[]): boolean {
  if (typeof check !== "object" || check === null || !("group" in check)) return false;
  const { group } = check;
  return ruleGroups.some((one) => one === group && !groups.includes(one));
}

function worst(issue: z.core.$ZodIssue | undefined, check: unknown): Worst {
  const { path, message } = schemaIssue(issue, check);
  if (issue?.code === "invalid_union" && path.at(-1) === "kind")
    return { path, reason: `kind must be one of ${kinds.join(", ")}` };
  return { path, reason: message };
}

interface Worst {
  readonly path: readonly (string | number)[];
  readonly reason: string;
}

const kinds: readonly string[] = Rule.options.map((option) => option.shape.kind.value);

function idOf(check: unknown): string | undefined {
  if (typeof check !== "object" || check === null || !("id" in check)) return undefined;
  return typeof check.id === "string" ? check.id : undefined;
}
