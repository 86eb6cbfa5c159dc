import { agentsRow } from "./agents-check.ts";
import type { Check } from "./check.ts";
import { diskRow, gitRow, locksRow, nodeRow, orchRow } from "./machine-checks.ts";
import { orderRow, piRow, providerRows, serverRows } from "./model-checks.ts";
import { personaRows, registryRows, ruleRows, settingsRows, testRows } from "./project-checks.ts";
import { protectionRows } from "./protection-checks.ts";
import { gitConfigRows, repositoryRows, trustRows, unfinishedRow } from "./repository-checks.ts";
import { privateRow, runRows, storeRow } from "./state-checks.ts";
import { workerTableRows } from "./worker-checks.ts";

type Look = Check["look"];
const now =
  (rows: (context: Parameters<Look>[0]) => Awaited<ReturnType<Look>>): Look =>
  (context) =>
    Promise.resolve(rows(context));

/** The order of the lines. A new check is one function and one row. */
export const checks: readonly Check[] = [
  { id: "orch", look: now(orchRow) },
  { id: "node", look: now((context) => nodeRow(context)) },
  { id: "locks", look: locksRow },
  { id: "git", look: gitRow },
  { id: "tests", look: testRows },
  { id: "pi", look: piRow },
  { id: "providers", look: now(providerRows) },
  { id: "servers", look: serverRows },
  { id: "models", look: orderRow },
  { id: "workers", look: workerTableRows },
  { id: "repository", look: repositoryRows },
  { id: "writes", look: unfinishedRow },
  { id: "git-config", look: gitConfigRows },
  { id: "trust", look: trustRows },
  { id: "agents", look: agentsRow },
  { id: "settings", look: settingsRows },
  { id: "registry", look: registryRows },
  { id: "rules", look: ruleRows },
  { id: "personas", look: personaRows },
  { id: "runs", look: runRows },
  { id: "private", look: privateRow },
  { id: "store", look: storeRow },
  { id: "disk", look: diskRow },
  { id: "protections", look: protectionRows },
];
