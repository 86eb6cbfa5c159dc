/** {{feature}}: rules. */
import type { Request, Response } from "./Schema.ts";

/** Applies the rules of spec.md to one request. */
export function handle(_request: Request): Response {
  throw new Error("spec.md is not implemented yet: run orch do");
}
