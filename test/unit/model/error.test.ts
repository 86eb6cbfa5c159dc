import { deepEqual, equal, match } from "node:assert/strict";
import { isCommandName } from "../../../shared/app/commands.ts";
import { type ErrorCode, type ErrorData, errorTable } from "../../../shared/model/error-table.ts";
import { isOrchError, OrchError } from "../../../shared/model/error.ts";
import { exitCodes } from "../../../shared/model/exit-code.ts";

describe("error table", () => {
  for (const code of Object.keys(errorTable) as ErrorCode[]) {
    it(`${code} has an exit code and a hint that reads`, () => {
      const error = new OrchError(code, "what failed");
      equal(Object.values(exitCodes).includes(error.exit), true);
      match(error.hint, /^[A-Z].*[^.!]$/s);
      equal(/undefined|\bNaN\b|please|!/i.test(error.hint), false, error.hint);
    });
  }

  const known: ErrorData = {
    ...{ branch: "Billing/Invoice", command: "do", id: "A1", log: "t.jsonl", model: "lab/a", near: "merge" },
    ...{ path: "a.json", run: "r-1", target: "Billing/Invoice", ended: true, hash: "0f" },
  };
  for (const data of [{}, known]) {
    it(`names whole commands of Orch, and only ones of its hint, ${data === known ? "with" : "without"} data`, () => {
      const errors = (Object.keys(errorTable) as ErrorCode[]).map((code) => new OrchError(code, "x", { data }));
      const all = errors.flatMap((error) => error.next.map((line) => ({ error, line })));
      deepEqual(
        all.filter(({ error, line }) => !error.hint.includes(line)).map(({ error }) => error.code),
        [],
      );
      const wrong = all.filter(({ line }) => {
        const [orch, name = ""] = line.split(" ");
        return orch !== "orch" || /[<>]|\b(?:ID|REF)\b/.test(line) || !(name === "--help" || isCommandName(name));
      });
      deepEqual(wrong, []);
    });
  }

  it("what its commands are about is quoted for a shell: a name or a path may be anybody's", () => {
    const of = (code: ErrorCode, data: ErrorData): string => new OrchError(code, "x", { data }).hint;
    equal(of("branch.wrong", { branch: "a$(id)" }), "Go there first: git switch 'a$(id)'");
    equal(of("contract.not-prepared", { path: "a b.json" }), "Make its place first: orch prepare 'a b.json'");
  });

  it("a full machine is helped by orch clean alone: a prepared place is given back without --all", () =>
    deepEqual(new OrchError("slots.full", "x").next, ["orch clean"]));

  it("says what comes next after a refusal", () => {
    const next = (code: ErrorCode, data: ErrorData): readonly string[] => new OrchError(code, "x", { data }).next;
    deepEqual(
      [
        next("branch.open", { branch: "Billing/Invoice" }),
        next("run.locked", { run: "r-1" }),
        next("run.locked", {}),
        next("review.missing", { id: "A1" }),
        next("contract.not-prepared", {}),
        next("contract.not-prepared", { path: "a.json" }),
        next("trust.needed", { hash: "0f" }),
        next("target.unknown", { target: "a/C" }),
        next("git.missing", {}),
      ],
      [
        ["orch merge Billing/Invoice", "orch undo Billing/Invoice"],
        ["orch status", "orch cancel r-1"],
        ["orch status", "orch cancel"],
        ["orch review A1"],
        [],
        ["orch prepare a.json"],
        ["orch trust"],
        ["orch scan", 'orch new a/C "what it does"'],
        [],
      ],
    );
  });

  it("gives the exit codes of the contract with the user", () => {
    deepEqual(exitCodes, {
      ok: 0,
      failed: 1,
      usage: 2,
      blocked: 3,
      decide: 4,
      precondition: 5,
      budget: 6,
      trust: 7,
      bug: 70,
      cancelled: 130,
    });
  });

  it("fills a hint from its data", () => {
    equal(
      new OrchError("target.unknown", "x", { data: { near: ["a/B", "c/D"], target: "a/C" } }).hint,
      'Did you mean a/B, c/D? Or create it: orch new a/C "what it does"',
    );
  });

  it("is known across bundles by its mark, not by its class", () => {
    const foreign = Object.assign(new Error("x"), { code: "tree.dirty", [Symbol.for("orch.error")]: true });
    deepEqual(
      [
        isOrchError(foreign),
        isOrchError(foreign, "tree.dirty"),
        isOrchError(foreign, "run.locked"),
        isOrchError(new Error("x")),
        isOrchError(undefined),
      ],
      [true, true, false, false, false],
    );
  });
});
