import * as z from "zod";

/**
 * `rules/<lang>/init/init.json`: what `init` puts into a project of the language. Templates are files beside it;
 * `{{name}}`, `{{package}}`, `{{version}}` and `{{articles}}` are filled in. The articles are words alone: which rules
 * hold each of them is read from the rule files.
 */
export const InitKit = z.strictObject({
  files: z
    .array(z.strictObject({ path: z.string().min(1), template: z.string().regex(/^[^/\\]+$/, "a plain file name") }))
    .min(1),
  /** How the version to pin is found out; `version` is an expression whose first group is it. */
  interpreter: z.strictObject({
    commands: z.array(z.string()).min(1),
    argv: z.array(z.string()),
    version: z.string(),
    otherwise: z.string(),
  }),
  articles: z
    .array(z.strictObject({ article: z.number().int().min(1).max(11), title: z.string(), text: z.string() }))
    .length(11),
});
export type InitKit = z.infer<typeof InitKit>;
