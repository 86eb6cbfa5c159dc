import { FeaturesFile } from "../model/feature.ts";
import type { Finding } from "../model/finding.ts";
import { readJson } from "../model/json-text.ts";
import { targetText } from "../model/target.ts";
import type { Gate, GateInput, SliceFacts } from "../ports/gate.ts";
import { finding, ran } from "./gate-finding.ts";

/** Does `.features.json` hold the feature under its domain? */
export function createRegistrySyncGate(): Gate {
  return {
    id: "registry-sync",
    phase: "change",
    async run(input) {
      if (input.slice === undefined) return { kind: "skipped", why: "the contract is no feature" };
      return ran(await registryFindings(input, input.slice));
    },
  };
}

export async function registryFindings(
  input: Pick<GateInput, "read">,
  { registry, target }: Pick<SliceFacts, "registry" | "target">,
): Promise<Finding[]> {
  const path = registry;
  const bytes = await input.read(registry);
  const remedy = `Register it in ${registry}: known_features holds "${target.name}": "${target.domain}"`;
  if (bytes === undefined) return [finding("registry_missing", "FAIL", `${registry} is missing`, { path, remedy })];
  const read = readJson(new TextDecoder("utf-8").decode(bytes), FeaturesFile);
  if (read.kind === "bad") {
    return [
      finding("registry_invalid", "FAIL", `${registry} cannot be read: ${read.fault.message}`, {
        path,
        line: read.fault.line,
        remedy: "Mend the file",
      }),
    ];
  }
  const known = read.value.known_features;
  const domain = Object.hasOwn(known, target.name) ? known[target.name] : undefined;
  if (domain === target.domain) return [];
  const what =
    domain === undefined
      ? `${targetText(target)} is not registered`
      : `${target.name} is registered under ${domain}, not ${target.domain}`;
  return [finding("registry_unsynced", "FAIL", what, { path, remedy })];
}
