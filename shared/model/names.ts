import * as z from "zod";

/** Names of features and domains. Windows cannot make folders of the reserved names, in any case. */
const reserved = new Set([
  "con",
  "prn",
  "aux",
  "nul",
  ...Array.from({ length: 9 }, (_, i) => `com${i + 1}`),
  ...Array.from({ length: 9 }, (_, i) => `lpt${i + 1}`),
]);

export function isReservedName(name: string): boolean {
  return reserved.has(name.toLowerCase());
}

/** What most disks hold in one name, in UTF-8. */
export const maxNameBytes = 255;

export const featureNamePattern = /^[A-Za-z][A-Za-z0-9_]*$/;
export const domainNamePattern = /^[A-Za-z][A-Za-z0-9_-]*$/;
/** Run ids start with `r-`; contract ids may not, so `.orch/runs/<ID>` never clashes with `.orch/runs/<run>`. */
export const runIdPattern = /^r-[0-9a-z][0-9a-z-]{3,60}$/;
export const contractIdPattern = /^(?!r-)[A-Za-z0-9][A-Za-z0-9._-]{0,79}$/;

/** What may be wrong with a name. A host translates each: `.ci/gen/l10n.mjs` reads them from here. */
export const nameFaults = {
  feature: "a feature name is a letter followed by letters, digits or _",
  domain: "a domain is a letter followed by letters, digits, _ or -",
  long: "a name has at most 64 characters",
  reserved: "this name is reserved on Windows",
  modify: "modify is a branch prefix, not a domain",
} as const;

export const FeatureName = z
  .string()
  .regex(featureNamePattern, nameFaults.feature)
  .max(64, nameFaults.long)
  .refine((name) => !isReservedName(name), nameFaults.reserved);
export const DomainName = z
  .string()
  .regex(domainNamePattern, nameFaults.domain)
  .max(64, nameFaults.long)
  .refine((name) => !isReservedName(name), nameFaults.reserved)
  .refine((name) => name.toLowerCase() !== "modify", nameFaults.modify);
export const RunId = z.string().regex(runIdPattern, "a run id looks like r-20260131-101500-ab12");
export const ContractId = z
  .string()
  .regex(contractIdPattern, "a contract id is letters, digits, dot, _ or -, and does not start with r-");
export type RunId = z.infer<typeof RunId>;
export type ContractId = z.infer<typeof ContractId>;
