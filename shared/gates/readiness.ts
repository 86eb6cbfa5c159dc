import { globMatcher, hasWildcard, repoPath } from "../base/paths.ts";
import type { Contract } from "../model/contract.ts";
import type { Finding } from "../model/finding.ts";
import type { Gate, GateInput, SliceFacts } from "../ports/gate.ts";
import { finding, ran } from "./gate-finding.ts";
import { registryFindings } from "./registry-sync.ts";

/** What makes a spec fit to work from; features/spec-check.ts knows its form. */
export type CheckSpec = (text: string, at: { readonly path: string; readonly feature: string }) => readonly Finding[];

/**
 * Is this fit to be handed out? Asked before any worker: every FAIL blocks, because no attempt can mend a contract, a
 * spec or a registry that the worker may not touch.
 */
export function createReadinessGate(deps: { readonly checkSpec: CheckSpec }): Gate {
  return {
    id: "readiness",
    phase: "readiness",
    async run(input) {
      const about = contractFindings(input.contract);
      if (input.slice === undefined) return ran(about);
      return ran([
        ...(await specFindings(input, input.slice, deps.checkSpec)),
        ...(await registryFindings(input, input.slice)),
        ...about,
      ]);
    },
  };
}

async function specFindings(input: GateInput, slice: SliceFacts, checkSpec: CheckSpec): Promise<readonly Finding[]> {
  const path = repoPath(`${slice.dir}/spec.md`);
  const bytes = path === undefined ? undefined : await input.read(path);
  if (path === undefined || bytes === undefined) {
    return [
      finding("spec.missing", "FAIL", `${slice.dir}/spec.md is missing`, {
        path: `${slice.dir}/spec.md`,
        remedy: "Write the specification first",
      }),
    ];
  }
  return checkSpec(new TextDecoder("utf-8").decode(bytes), { path, feature: slice.target.name });
}

function contractFindings(contract: Contract): Finding[] {
  const found: Finding[] = [];
  const isProtected = globMatcher(contract.protected);
  for (const path of contract.allowed) {
    if (hasWildcard(path) || !isProtected(path)) continue;
    found.push(
      finding("scope_conflict", "FAIL", `${path} is both allowed and protected`, {
        evidence: path,
        remedy: "Take it out of one of the two lists",
      }),
    );
  }
  const outside = contract.allowed.filter((path) => repoPath(path) === undefined);
  for (const path of outside) {
    found.push(
      finding("scope_invalid", "FAIL", `${path} is no path inside the repository`, {
        evidence: path,
        remedy: "Name files relative to the root",
      }),
    );
  }
  const names = new Set(contract.checks.map(({ name }) => name));
  for (const { id, check } of contract.acceptance) {
    if (check === undefined || names.has(check)) continue;
    found.push(
      finding("acceptance_unmapped", "FAIL", `criterion ${id} names the check ${check}, which does not exist`, {
        evidence: check,
        remedy: "Name one of the contract's checks, or mark it judged",
      }),
    );
  }
  if (contract.mode === "edit" && contract.checks.length === 0) {
    found.push(finding("no_checks", "WARN", "nothing is run to check the work", { remedy: "Name at least one check" }));
  }
  return found;
}
