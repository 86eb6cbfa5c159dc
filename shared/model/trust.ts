import * as z from "zod";
import type { AbsPath } from "../base/paths.ts";

/** `trust.json` of the user's state folder: which repositories may run code, and which file contents may take effect. */
export const TrustFile = z.strictObject({
  v: z.literal(1),
  /** Key: real path of the git common dir. */
  repositories: z.record(
    z.string(),
    z.strictObject({
      /** True once a person said that this repository's code (tests, checks, hooks, filters) may run. */
      code: z.boolean(),
      /** repository path -> sha256 of the trusted bytes: config, rules, personas, contracts. */
      files: z.record(z.string(), z.string()),
      /** Git configuration keys that may run programs (filters, signing), named and approved: `key=sha256(value)`. */
      gitKeys: z.array(z.string()).default([]),
      at: z.number(),
    }),
  ),
});
export type TrustFile = z.infer<typeof TrustFile>;

/** The repository as a person knows it: its folder, not git's own inside it. */
export function repositoryText(repository: string): string {
  return repository.replace(/[\\/]\.git$/, "");
}

/** Something that git would run: a key of its configuration, or a hook that changed while a worker could write there. */
export interface TrustKey {
  readonly key: string;
  readonly value: string;
  readonly trusted: boolean;
  /** Of a hook: where it lies, and what it is by mode and content. */
  readonly hook?: { readonly at?: AbsPath; readonly is: string };
}

/** What a repository ships that needs trust, and what of it is trusted now. */
export interface TrustState {
  readonly repository: string;
  readonly code: boolean;
  readonly files: readonly {
    readonly path: string;
    readonly sha256: string;
    readonly trusted: boolean;
    readonly changed: boolean;
  }[];
  readonly gitKeys: readonly TrustKey[];
  /** sha256 over the sorted file hashes and git keys: what `orch trust --hash` takes. */
  readonly hash: string;
}
