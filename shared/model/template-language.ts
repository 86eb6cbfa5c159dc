import * as z from "zod";

/**
 * `rules/<lang>/template-worker/language.json`: how the template worker spells a formula, a statement and a block in
 * one language. In a text `{name}` is a slot, `~` a space at which a long line may break, `<<` and `>>` stand for
 * braces. Brackets may break inside. A form binds as tightly as its `level` (9 when absent); its slots must bind at
 * least `inner`.
 */
const Form = z.strictObject({
  text: z.string(),
  level: z.number().int().default(9),
  inner: z.number().int().default(1),
});

export const TemplateLanguage = z.strictObject({
  width: z.number().int().positive(),
  indent: z.string(),
  types: z.strictObject({ int: z.string(), decimal: z.string(), text: z.string(), bool: z.string(), list: z.string() }),
  operators: z.record(z.string(), z.strictObject({ sign: z.string(), level: z.number().int() })),
  forms: z.record(z.string(), Form),
  statements: z.record(z.string(), z.string()),
  blocks: z.record(z.string(), z.string()),
  /** Exceptions of the language itself, which the errors table may name. */
  exceptions: z.array(z.string()),
  /** Names that inputs and values may not have. */
  reserved: z.array(z.string()),
  /** What a file that uses the word has to import. */
  imports: z.array(z.strictObject({ word: z.string(), from: z.string() })),
  importLine: z.string(),
});
export type TemplateLanguage = z.infer<typeof TemplateLanguage>;
