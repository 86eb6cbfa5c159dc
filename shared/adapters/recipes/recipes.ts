import { agy } from "./agy.ts";
import { claude } from "./claude.ts";
import { cline } from "./cline.ts";
import { codex } from "./codex.ts";
import { copilot } from "./copilot.ts";
import { gemini } from "./gemini.ts";
import { opencode } from "./opencode.ts";
import { pi } from "./pi.ts";
import type { Recipe } from "./recipe.ts";
import { reasonix } from "./reasonix.ts";

/** Every client that Orch can start. A new one is one file and one line. */
export const recipes = { pi, codex, claude, opencode, gemini, copilot, cline, reasonix, agy } as const satisfies Record<
  string,
  Recipe
>;

export function recipeOf(client: string): Recipe | undefined {
  return Object.hasOwn(recipes, client) ? recipes[client as keyof typeof recipes] : undefined;
}
