import * as z from "zod";

/** The head of `personas/*.md`: what the file is, for people and for the loader. The body is the prompt. */
const personaRoles = ["implement", "spec", "spec-qa", "worker", "review", "checklist"] as const;

export const PersonaHead = z.strictObject({
  name: z.string().regex(/^[a-z][a-z0-9_-]{0,63}$/, "a persona's name is lower case letters, digits, _ or -"),
  role: z.enum(personaRoles),
  description: z.string().min(1).max(300),
  version: z.coerce.number().int().min(1),
});
export type PersonaHead = z.infer<typeof PersonaHead>;
