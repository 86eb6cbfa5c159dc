import type { Contract } from "../../model/contract.ts";
import type { Finding } from "../../model/finding.ts";
import { at, type LintFacts, type LintSubject } from "./lint-subject.ts";

type Keys = readonly (string | number)[];

/** Names that a contract waits for, with the place of each. */
function needs({ after, inputs, build_on: on }: Contract): { readonly id: string; readonly keys: Keys }[] {
  return [
    ...after.map((id, index) => ({ id, keys: ["after", index] })),
    ...inputs.map(({ from }, index) => ({ id: from, keys: ["inputs", index, "from"] })),
    ...(on === undefined ? [] : [{ id: on, keys: ["build_on"] }]),
  ];
}

/** For each contract all that it waits for, directly or not. */
export function order(contracts: readonly Contract[]): ReadonlyMap<string, ReadonlySet<string>> {
  const direct = new Map(contracts.map((contract) => [contract.id, needs(contract).map(({ id }) => id)]));
  return new Map(
    [...direct.keys()].map((id) => {
      const all = new Set<string>();
      const pending = [...(direct.get(id) ?? [])];
      for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
        if (all.has(next)) continue;
        all.add(next);
        pending.push(...(direct.get(next) ?? []));
      }
      return [id, all] as const;
    }),
  );
}

/** Ids, what waits for what, and circles. */
export function orderLints(subjects: readonly LintSubject[], facts: LintFacts): Finding[] {
  const found: Finding[] = [];
  const seen = new Map<string, LintSubject>();
  const waits = order(subjects.map(({ contract }) => contract));
  for (const subject of subjects) {
    const { contract } = subject;
    const first = seen.get(contract.id);
    if (first !== undefined)
      found.push(
        at(subject, ["id"], "id-twice", "FAIL", `${contract.id} is also the id of ${first.path}`, {
          remedy: "Give each contract an id of its own",
        }),
      );
    seen.set(contract.id, first ?? subject);
    if (subject.path.startsWith(".orch/contracts/") && subject.path !== `.orch/contracts/${contract.id}.json`)
      found.push(
        at(subject, ["id"], "id-file", "WARN", `${contract.id} lies in ${subject.path}, so its id does not find it`, {
          remedy: `Name the file .orch/contracts/${contract.id}.json`,
        }),
      );
    found.push(...namedLints(subject, subjects, facts), ...inputLints(subject, subjects));
    if (waits.get(contract.id)?.has(contract.id) !== true) continue;
    const back = needs(contract).find(({ id }) => id === contract.id || waits.get(id)?.has(contract.id) === true);
    const others = [...(waits.get(contract.id) ?? [])].filter(
      (id) => id !== contract.id && waits.get(id)?.has(contract.id),
    );
    found.push(
      at(
        subject,
        back?.keys ?? ["after"],
        "cycle",
        "FAIL",
        others.length === 0
          ? `${contract.id} waits for itself`
          : `${contract.id} and ${others.join(", ")} wait for each other`,
        { remedy: "Take one of them out of after, inputs or build_on" },
      ),
    );
  }
  return found;
}

function namedLints(subject: LintSubject, subjects: readonly LintSubject[], facts: LintFacts): Finding[] {
  const known = new Set(subjects.map(({ contract }) => contract.id));
  return needs(subject.contract).flatMap(({ id, keys }) => {
    if (known.has(id)) return [];
    const other = facts.otherIds.includes(id);
    return [
      at(
        subject,
        keys,
        "after-unknown",
        other ? "WARN" : "FAIL",
        other ? `${id} is not among the contracts that are checked` : `there is no contract ${id}`,
        {
          remedy: other
            ? `Check and run them together: add .orch/contracts/${id}.json`
            : "Name a contract that is there, or take it out",
        },
      ),
    ];
  });
}

function inputLints(subject: LintSubject, subjects: readonly LintSubject[]): Finding[] {
  const modeOf = new Map(subjects.map(({ contract }) => [contract.id, contract.mode]));
  const found: Finding[] = [];
  subject.contract.inputs.forEach(({ from, what }, index) => {
    if (what === "diff" && modeOf.get(from) === "read_only")
      found.push(
        at(subject, ["inputs", index, "what"], "input-empty", "FAIL", `${from} is read_only, so it has no diff`, {
          remedy: 'Ask for its answer: "what": "answer"',
        }),
      );
  });
  const on = subject.contract.build_on;
  if (on !== undefined && modeOf.get(on) === "read_only")
    found.push(
      at(subject, ["build_on"], "input-empty", "FAIL", `${on} is read_only, so there is no code to build on`, {
        remedy: "Take its answer as an input instead",
      }),
    );
  return found;
}
