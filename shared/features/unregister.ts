import type { RepoPath } from "../base/paths.ts";
import { parseRegistry, withFeature, withoutFeature } from "./registry.ts";
import type { Target } from "../model/target.ts";
import { knownDomain } from "./resolve.ts";

/**
 * What becomes of uncommitted changes of `.features.json` when a feature's branch is discarded: the feature's entry
 * goes with it, every other edit is a person's and stays.
 */
export type RegistryFate =
  /** Nothing uncommitted in it. */
  | { readonly kind: "none" }
  /** Only the feature's entry differs from the commit: back to the commit. */
  | { readonly kind: "reset" }
  /** A file that only ever held the feature's entry, and no commit has it: it goes. */
  | { readonly kind: "remove" }
  /** Other edits stay, the entry goes; nothing else has changed between the branch and where the checkout goes. */
  | { readonly kind: "edit"; readonly text: string }
  /** Other edits, and the checkout would have to overwrite them. */
  | { readonly kind: "blocked" };

export interface RegistryTexts {
  /** In the working tree, when it differs from the commit. */
  readonly working: string | undefined;
  /** In the commit that is checked out, and in the one the checkout goes to. */
  readonly head: string | undefined;
  readonly goal: string | undefined;
}

/** Pure. @throws OrchError `registry.invalid` when a text cannot be read: guessing could lose an edit. */
export function registryFate(texts: RegistryTexts, target: Target, path: RepoPath): RegistryFate {
  const { working, head, goal } = texts;
  if (working === undefined) return { kind: "none" };
  for (const text of [working, head, goal]) parseRegistry(text, path);
  const mine = (text: string | undefined): string => (text === undefined ? "{}" : withoutFeature(text, target.name));
  if (meaning(mine(working), path) === meaning(mine(head), path)) {
    return head === undefined ? { kind: "remove" } : { kind: "reset" };
  }
  if (head !== goal) return { kind: "blocked" };
  const held = goal === undefined ? undefined : knownDomain(parseRegistry(goal, path), target.name);
  const text = held === undefined ? mine(working) : withFeature(working, { domain: held, name: target.name });
  return { kind: "edit", text };
}

/** Same meaning: same keys in the same order with the same values; layout and comments aside. */
function meaning(text: string, path: RepoPath): string {
  return JSON.stringify(parseRegistry(text, path));
}
