import * as z from "zod";
import type { RepoPath } from "../base/paths.ts";
import { DomainName, FeatureName } from "./names.ts";
import type { Target } from "./target.ts";

/** `.features.json`: the registry of what the project is. Unknown keys survive a rewrite, key order too (features/registry.ts). */
export const FeaturesFile = z.looseObject({
  features_dir: z.string().min(1).default("features"),
  /** feature name -> domain */
  known_features: z.record(FeatureName, DomainName).default({}),
  /** keyword -> [domain, suggested action] */
  domain_keywords: z.record(z.string(), z.tuple([DomainName, z.string()])).default({}),
  apps: z
    .record(
      z.string().min(1),
      z.looseObject({
        features_dir: z.string().min(1),
        config: z.string().optional(),
        domains: z.array(DomainName).optional(),
      }),
    )
    .optional(),
});
export type FeaturesFile = z.infer<typeof FeaturesFile>;

/** A feature with the places that follow from it. */
export interface Feature {
  readonly target: Target;
  readonly app?: string;
  /** Of its contract, and so of its folder in a run: its name, with the app where several apps may hold that name. */
  readonly id: string;
  /** The slice's folder, relative to the repository's root. */
  readonly dir: RepoPath;
  readonly spec: RepoPath;
  /** The branch of `new` and `do`: `<domain>/<Feature>`. */
  readonly branch: string;
  /** The registry that holds it: `.features.json` at the root, or a nested one. */
  readonly registry: RepoPath;
}
