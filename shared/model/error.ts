import { type ErrorCode, type ErrorData, type ErrorRow, errorTable } from "./error-table.ts";
import { type ExitCode, exitCodes } from "./exit-code.ts";
import type { Hint } from "./hint.ts";

const mark = Symbol.for("orch.error");

export interface OrchErrorOptions {
  readonly data?: ErrorData;
  readonly cause?: unknown;
}

/** `message` says what failed and on what; `hint` is the next keystroke. Never holds secrets: it may be logged. */
export class OrchError extends Error {
  override readonly name = "OrchError";
  readonly code: ErrorCode;
  readonly data: ErrorData;

  constructor(code: ErrorCode, message: string, options: OrchErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.data = options.data ?? {};
    Object.defineProperty(this, mark, { value: true });
  }

  get hint(): string {
    return this.#hint.text;
  }

  /** Whole commands a person can paste, as the hint names them. */
  get next(): readonly string[] {
    return this.#hint.next;
  }

  get #hint(): Hint {
    const row: ErrorRow = errorTable[this.code];
    const hint = row.hint(this.data);
    return typeof hint === "string" ? { text: hint, next: [] } : hint;
  }

  get exit(): ExitCode {
    return exitCodes[errorTable[this.code].exit];
  }
}

/** Works across bundles and realms: the mark is a registered symbol, not the class. */
export function isOrchError(error: unknown, code?: ErrorCode): error is OrchError {
  return (
    typeof error === "object" &&
    error !== null &&
    mark in error &&
    (code === undefined || (error as unknown as OrchError).code === code)
  );
}
