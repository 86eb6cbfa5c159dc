import type { FileAnswer } from "../ports/pool.ts";
import type { FileSubject, RuleRunner, RunOptions } from "./run.ts";

export interface AuditedBytes {
  readonly path: string;
  readonly bytes: Uint8Array;
  readonly role?: string;
}

/** Larger files are data, whatever their name says. */
export const maxFileBytes = 8 * 1024 * 1024;
const maxMatchesOfRule = 20;

/** One file, one answer: bytes that are no text are skipped with a word, everything else is judged. */
export async function auditFile(
  runner: Pick<RuleRunner, "file">,
  { path, bytes, role }: AuditedBytes,
  options: RunOptions = { most: maxMatchesOfRule },
): Promise<FileAnswer> {
  if (bytes.length > maxFileBytes)
    return { kind: "skipped", path, why: `larger than ${maxFileBytes / 1024 / 1024} MiB` };
  if (bytes.subarray(0, 8000).includes(0)) return { kind: "skipped", path, why: "binary" };
  return auditText(runner, { path, text: textOf(bytes), ...(role === undefined ? {} : { role }) }, options);
}

export async function auditText(
  runner: Pick<RuleRunner, "file">,
  subject: FileSubject,
  options: RunOptions = { most: maxMatchesOfRule },
): Promise<FileAnswer> {
  const { path } = subject;
  const { findings, facts, noTree } = await runner.file(subject, options);
  if (noTree === undefined) return { kind: "audited", path, findings, facts };
  const noted = {
    rule: "no_syntax_tree",
    severity: "WARN" as const,
    message: `the rules on syntax trees did not run: ${noTree}`,
    path,
    evidence: path,
    remedy: "Look at this file by hand",
  };
  return { kind: "audited", path, findings: [...findings, noted], facts };
}

/** UTF-8; else, as Python's tools do, one character a byte, so that every line keeps its place. */
export function textOf(bytes: Uint8Array): string {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return new TextDecoder("latin1").decode(bytes);
  }
}
