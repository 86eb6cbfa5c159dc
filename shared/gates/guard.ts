import type { RuleGroup } from "../model/rule.ts";
import type { Gate } from "../ports/gate.ts";
import type { Limits } from "../model/run.ts";
import type { Ids } from "../ports/ids.ts";
import type { Judge } from "../ports/judge.ts";
import type { Process } from "../ports/process.ts";
import type { Syntax } from "../ports/syntax.ts";
import type { ConfineCheck } from "../ports/sandbox.ts";
import type { TestRunner } from "../ports/test-runner.ts";
import { createAcceptanceGate } from "./acceptance.ts";
import { createAppearanceGate } from "./appearance.ts";
import { type AuditDeps, createAudit } from "./audit.ts";
import { createChecksGate } from "./checks.ts";
import { createConfigGate } from "./config.ts";
import { createLeftoversGate } from "./leftovers.ts";
import { createDesignGate } from "./design.ts";
import { createIntegrityGate } from "./integrity.ts";
import { createObservedGate } from "./observed.ts";
import { createReportGate } from "./report.ts";
import { createScopeGate, type ScopeDeps } from "./scope.ts";
import { createSpecialCasesGate } from "./special-cases.ts";
import { createTestsGate, readsTestsOf } from "./tests.ts";

export interface GuardDeps extends AuditDeps, ScopeDeps {
  readonly syntax: Syntax;
  readonly tests: Pick<TestRunner, "run">;
  readonly process: Pick<Process, "run">;
  /** The check environment. */
  readonly env: Readonly<Record<string, string>>;
  readonly confine?: ConfineCheck | undefined;
  readonly ids: Ids;
  readonly judge: Judge;
  readonly limits: Pick<Limits, "acceptRevise" | "acceptWarn">;
}

/**
 * Gate 1: every gate a contract's change goes through, in the order it is asked. Facts of the process first, then git's,
 * then the lines, then the syntax trees, then what is run. Offline but for the judge; equal input gives equal findings.
 */
export function createGuardGates(deps: GuardDeps): readonly Gate[] {
  const audit = createAudit(deps);
  const groupOf = (rule: string): RuleGroup | undefined => audit.groupOf(rule);
  return [
    createReportGate(),
    createObservedGate(),
    createScopeGate(deps),
    createLeftoversGate(),
    createAppearanceGate(),
    createIntegrityGate(audit, readsTestsOf(deps.book)),
    createTestsGate(deps),
    createConfigGate(),
    createDesignGate(),
    createSpecialCasesGate(deps),
    createChecksGate({ ...deps, groupOf }),
    createChecksGate({ ...deps, groupOf }, "hidden"),
    createAcceptanceGate(deps),
  ];
}
