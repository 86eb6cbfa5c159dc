import { deepEqual } from "node:assert/strict";
import type { Recipe } from "../../../../shared/adapters/recipes/recipe.ts";
import { recipes } from "../../../../shared/adapters/recipes/recipes.ts";

/**
 * What a worker may write of a person's files. A new row here is a decision: the file holds the tokens of a login that
 * refreshes itself, and the client takes no command, variable or address from it.
 */
const writable = [".codex/auth.json", ".claude/.credentials.json", ".gemini/oauth_creds.json"];
/** One file for all logins of a client; only the tokens in it go back. */
const tokens = [".pi/agent/auth.json", ".local/share/opencode/auth.json"];

describe("logins of the clients", () => {
  const of = (how: string): string[] =>
    Object.values<Recipe>(recipes).flatMap(({ logins }) =>
      logins.filter(({ as }) => as === how).map(({ from }) => from),
    );

  it("only what refreshes itself and can name no command is linked, all else is a copy", () => {
    deepEqual([of("link"), of("tokens")], [writable, tokens]);
  });
});
