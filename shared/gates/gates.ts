import type { Limits } from "../model/run.ts";
import type { Bystanders } from "../ports/bystanders.ts";
import type { Gate } from "../ports/gate.ts";
import type { Ids } from "../ports/ids.ts";
import type { Judge } from "../ports/judge.ts";
import type { Process } from "../ports/process.ts";
import type { ConfineCheck } from "../ports/sandbox.ts";
import type { TestRunner } from "../ports/test-runner.ts";
import { createAcceptanceGate } from "./acceptance.ts";
import { createAppearanceGate } from "./appearance.ts";
import { type AuditDeps, createAudit } from "./audit.ts";
import { createChecksGate } from "./checks.ts";
import { createConstitutionGate } from "./constitution.ts";
import { followsSpec } from "./follows-spec.ts";
import { createIntegrityGate } from "./integrity.ts";
import { type CheckSpec, createReadinessGate } from "./readiness.ts";
import { createRegistrySyncGate } from "./registry-sync.ts";
import { createExtractionGate, createTruncationGate } from "./reply.ts";
import { createReportGate } from "./report.ts";
import { createRootFilesGate } from "./root-files.ts";
import { createScopeGate } from "./scope.ts";
import { createSpecCoverGate } from "./spec-cover.ts";
import { createSpecialCasesGate } from "./special-cases.ts";
import { createStandardsGate, type StandardsDeps } from "./standards.ts";
import { createStructureGate } from "./structure.ts";
import { createTestsGate, readsTestsOf, type TestsDeps } from "./tests.ts";

export interface GatesDeps extends AuditDeps, TestsDeps {
  readonly checkSpec: CheckSpec;
  readonly exact?: StandardsDeps["exact"];
  readonly tests: Pick<TestRunner, "run">;
  readonly process: Pick<Process, "run">;
  /** The check environment. */
  readonly env: Readonly<Record<string, string>>;
  readonly confine?: ConfineCheck;
  readonly bystanders?: Bystanders;
  readonly ids: Ids;
  readonly judge: Judge;
  readonly limits: Pick<Limits, "acceptRevise" | "acceptWarn">;
}

/**
 * Every gate, in the order it is asked: cheap before dear, static before running, facts before judgement. The order is
 * the order of findings in feedback, too.
 */
export function createGates(deps: GatesDeps): readonly Gate[] {
  const audit = createAudit(deps);
  return [
    createReadinessGate(deps),
    createReportGate(),
    createExtractionGate(),
    createTruncationGate(),
    createScopeGate(),
    createAppearanceGate(),
    followsSpec(createIntegrityGate(audit, readsTestsOf(deps.book))),
    followsSpec(createTestsGate(deps)),
    createSpecialCasesGate({ book: deps.book }),
    createSpecCoverGate(deps),
    createStructureGate(audit),
    createStandardsGate({ audit, ...(deps.exact === undefined ? {} : { exact: deps.exact }) }),
    createConstitutionGate(audit),
    createRootFilesGate(),
    createRegistrySyncGate(),
    createChecksGate({ ...deps, groupOf: audit.groupOf }),
    createAcceptanceGate(deps),
  ];
}
