import * as z from "zod";

/**
 * What a runner and an editor hand each other for a completion by the editor's own models. The prompt is a sidecar of
 * `completion.requested`; the answer is the reply file of its id: `choice` is the outcome, `text` the whole completion
 * or, when there is none, why. `replies/<id>.claim` is held by the window that serves it, and touched while it does.
 */
export const CompletionPrompt = z.strictObject({
  v: z.literal(1),
  messages: z.array(z.strictObject({ role: z.enum(["system", "user", "assistant"]), content: z.string() })).min(1),
});
export type CompletionPrompt = z.infer<typeof CompletionPrompt>;

/** `auth`: the person did not allow it. `rate-limit`: the vendor blocked it. `unknown-model`: it is not offered. */
export const CompletionOutcome = z.enum(["ok", "auth", "rate-limit", "unknown-model", "cancelled", "gone", "error"]);
/** How a window says `gone` itself when it has the time to; else its stale claim does. */
export const windowGone = "the window of VS Code that served it is gone";
export type CompletionOutcome = z.infer<typeof CompletionOutcome>;

/** No window took the request in this time: there is none. */
export const claimWithinMs = 3000;
/** A claim that was not touched for this long belongs to a window that is gone. */
export const claimStaleMs = 10_000;
