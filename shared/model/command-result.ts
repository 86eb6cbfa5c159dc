import type { ExitCode } from "./exit-code.ts";

/** What every command returns to every host. `next` holds whole commands a person can paste. */
export interface CommandResult {
  readonly ok: boolean;
  readonly code: ExitCode;
  /** One line. */
  readonly summary: string;
  readonly next: readonly string[];
  /** The command's own document for `--json`; a plain JSON value. */
  readonly data?: unknown;
  readonly error?: { readonly code: string; readonly message: string; readonly hint: string; readonly at?: string };
}
