/** {{feature}}: door. */
import { handle } from "./Handler.ts";

/** Turns a decoded payload into a request, the response into data. */
export function control(payload: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  return { ...handle({ ...payload }) };
}
