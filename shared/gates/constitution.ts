import type { Gate } from "../ports/gate.ts";
import type { Audit } from "./audit.ts";
import { ran } from "./gate-finding.ts";
import type { RepoPath } from "../base/paths.ts";
import type { Finding } from "../model/finding.ts";

/** Where a project writes its articles down. No gate takes a severity from it: settings name rules by id. */
const constitutionFile = "AGENTS.md" as RepoPath;

/**
 * The 11 articles, each a rule of the constitution group. Without AGENTS.md the built-in ones apply, and the findings
 * say so: a worker, or a person, must be able to tell where a demand comes from.
 */
export function createConstitutionGate(audit: Audit): Gate {
  return {
    id: "constitution",
    phase: "change",
    async run(input, signal) {
      const findings = await audit.findings(input, "constitution", signal);
      if (findings.length === 0) return ran([]);
      const written = (await input.read(constitutionFile)) !== undefined;
      const hinted = findings.map(withInit);
      return ran(written ? hinted : hinted.map(builtIn));
    },
  };
}

/** What the whole project lacks comes back with every attempt, and no slice can mend it: one command does. */
function withInit(found: Finding): Finding {
  if (found.severity !== "WARN" || !ofProject.test(found.rule) || found.remedy.includes("orch init")) return found;
  return { ...found, remedy: `${found.remedy}. What the project lacks is added by: orch init .` };
}

const ofProject = /^constitution\.[12]$/;

function builtIn(found: Finding): Finding {
  return { ...found, message: `${found.message} (a built-in article: the project has no AGENTS.md)` };
}
