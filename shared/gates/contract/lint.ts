import type { Finding } from "../../model/finding.ts";
import { templateId } from "../../model/model-ids.ts";
import { checkLints } from "./check-lints.ts";
import { at, type LintFacts, type LintSubject } from "./lint-subject.ts";
import { orderLints } from "./order-lints.ts";
import { overlapLints, scopeLints } from "./scope-lints.ts";
import { sizeLints, tinyLints } from "./size-lints.ts";
import { textLints } from "./text-lints.ts";

/** Each file that was read, in the order it was named; findings in the order of the file. Pure. */
export function lintContracts(subjects: readonly LintSubject[], facts: LintFacts): Finding[] {
  const together = [...orderLints(subjects, facts), ...overlapLints(subjects, facts), ...tinyLints(subjects)];
  return subjects.flatMap((subject) => {
    const own = [
      ...together.filter(({ path }) => path === subject.path),
      ...scopeLints(subject, facts),
      ...checkLints(subject),
      ...sizeLints(subject, facts),
      ...textLints(subject, facts),
      ...workerLints(subject, facts),
    ];
    return own.toSorted((a, b) => (a.line ?? 0) - (b.line ?? 0));
  });
}

/** `provider/model` is one completion by that model: which ones there are only its lane can tell. */
function workerLints(subject: LintSubject, { workers }: LintFacts): Finding[] {
  const { worker, ladder, kind } = subject.contract;
  const named = [
    ...(worker === "auto" ? [] : [{ id: worker, keys: ["worker"] }]),
    ...ladder.map((id, index) => ({ id, keys: ["ladder", index] })),
  ];
  return named.flatMap(({ id, keys }) => {
    if (id === templateId)
      return [
        at(
          subject,
          keys,
          "worker-features",
          "FAIL",
          `${id} fills in what a feature's spec.md determines, and does no contracts`,
          {
            remedy: 'Name a worker of orch doctor\'s table or provider/model, or leave "worker" at auto',
          },
        ),
      ];
    if (id.includes("/")) return [];
    const known = workers.find((one) => one.id === id);
    if (known === undefined)
      return [
        at(subject, keys, "worker-unknown", "FAIL", `there is no worker ${id}`, {
          remedy: `Name one of ${workers.map((one) => one.id).join(", ")}, or provider/model`,
        }),
      ];
    if (known.kinds === undefined || known.kinds.includes(kind)) return [];
    return [
      at(
        subject,
        keys,
        "worker-kind",
        "WARN",
        `${id} is only for ${known.kinds.join(", ")}, and this is ${kind}: it is skipped`,
        {
          remedy: "Name another worker, or mend kind",
        },
      ),
    ];
  });
}
