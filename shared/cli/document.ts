import type { CommandResult } from "../model/command-result.ts";

/** The one document of `--json`. `schema` names this shape; a change of shape is another schema. */
export interface JsonDocument {
  readonly schema: "orch.result.v1";
  readonly version: string;
  readonly command: string;
  readonly ok: boolean;
  readonly code: number;
  readonly summary: string;
  readonly next: readonly string[];
  readonly data: unknown;
  readonly error: CommandResult["error"] | null;
}

export function jsonDocument(command: string, version: string, result: CommandResult): JsonDocument {
  return {
    schema: "orch.result.v1",
    version,
    command,
    ok: result.ok,
    code: result.code,
    summary: result.summary,
    next: result.next,
    data: result.data ?? null,
    error: result.error ?? null,
  };
}
