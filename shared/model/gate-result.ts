import type { OrchError } from "./error.ts";
import type { Finding } from "./finding.ts";
import type { Sidecar } from "./sidecar.ts";

/** A skipped gate says why and is not a pass; a broken one is the environment's fault and never counts against the worker. */
export type GateResult =
  | { readonly kind: "ran"; readonly findings: readonly Finding[]; readonly log?: Sidecar }
  | { readonly kind: "skipped"; readonly why: string }
  /** `decides`: nothing else may before a person looked, so it stands over every finding. */
  | { readonly kind: "broken"; readonly error: OrchError; readonly decides?: true };
