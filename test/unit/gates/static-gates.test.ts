import assert from "node:assert/strict";
import type { AbsPath, RepoPath } from "../../../shared/base/paths.ts";
import type { Finding } from "../../../shared/model/finding.ts";
import type { RuleGroup } from "../../../shared/model/rule.ts";
import type { Gate } from "../../../shared/ports/gate.ts";
import type { ExactSyntax } from "../../../shared/ports/syntax.ts";
import { createAcceptanceGate } from "../../../shared/gates/acceptance.ts";
import type { Audit } from "../../../shared/gates/audit.ts";
import { createConstitutionGate } from "../../../shared/gates/constitution.ts";
import { createIntegrityGate } from "../../../shared/gates/integrity.ts";
import { createReadinessGate } from "../../../shared/gates/readiness.ts";
import { createRegistrySyncGate } from "../../../shared/gates/registry-sync.ts";
import { createExtractionGate, createTruncationGate } from "../../../shared/gates/reply.ts";
import { createReportGate } from "../../../shared/gates/report.ts";
import { createRootFilesGate } from "../../../shared/gates/root-files.ts";
import { createStandardsGate } from "../../../shared/gates/standards.ts";
import { createStructureGate } from "../../../shared/gates/structure.ts";
import {
  featureContract,
  found,
  gateInput,
  type InputFacts,
  report,
  sliceDir,
  sliceFacts,
} from "../../support/gate-input.ts";

const at = (name: string): string => `${sliceDir}/${name}`;
const whole = Object.fromEntries(
  ["__init__.py", "Schema.py", "Handler.py", "Controller.py", "Tests.py"].map((name) => [at(name), "x = 1\n"]),
);
const without = (name: string): Record<string, string> =>
  Object.fromEntries(Object.entries(whole).filter(([path]) => path !== at(name)));

/** An audit that answers with what the test says. */
const audit = (
  findings: Partial<Record<RuleGroup, readonly Finding[]>> = {},
  unread: readonly { path: string; why: string }[] = [],
): Audit => ({
  findings: (_input, group) => Promise.resolve(findings[group] ?? []),
  unread: () => Promise.resolve(unread),
  groupOf: (rule) =>
    (Object.keys(findings) as RuleGroup[]).find((group) => findings[group]?.some((one) => one.rule === rule)),
});
const ruled = (rule: string, path?: string): Finding => ({
  rule,
  severity: "FAIL",
  message: "m",
  evidence: "",
  remedy: "r",
  ...(path === undefined ? {} : { path }),
});

function table(name: string, gate: Gate, rows: readonly [string, InputFacts, readonly string[]][]): void {
  describe(`gate: ${name}`, () => {
    for (const [row, facts, wanted] of rows) it(row, async () => assert.deepEqual(await found(gate, facts), wanted));
  });
}

table("report", createReportGate(), [
  ["done", { report: report() }, []],
  ["nobody reported", {}, ["skipped: nobody reported: the change is judged alone"]],
  ["not done", { report: report({ kind: "gave-up", summary: "too hard" }) }, ["FAIL worker_status"]],
  ["timed out", { report: report({ kind: "timed-out" }) }, ["FAIL worker_status"]],
  [
    "an unreadable reply is told by its own gate",
    {
      report: report({
        kind: "failed",
        cause: "unusable",
        problems: [{ kind: "extraction", message: "m", evidence: "" }],
      }),
    },
    [],
  ],
  [
    "refused paths",
    { report: report({ refused: ["../x.py", "/etc/passwd"] }) },
    ["FAIL out_of_scope", "FAIL out_of_scope"],
  ],
  ["claims that fit", { before: {}, after: { "a.py": "x\n" }, report: report({ claims: ["a.py"] }) }, []],
  [
    "files it does not name",
    { before: {}, after: { "a.py": "x\n", "b.py": "y\n" }, report: report({ claims: ["a.py"] }) },
    ["WARN report_mismatch"],
  ],
  [
    "claims that do not",
    { before: {}, after: { "a.py": "x\n" }, report: report({ claims: ["a.py", "b.py"] }) },
    ["WARN report_mismatch"],
  ],
  [
    "a file that an earlier attempt changed and this one put back",
    {
      ...{ before: {}, after: { "a.py": "x\n" }, attempt: 2, earlier: ["a.py", "b.py"] },
      report: report({ claims: ["b.py"] }),
    },
    [],
  ],
  [
    "a file that no attempt changed",
    {
      ...{ before: {}, after: { "a.py": "x\n" }, attempt: 2, earlier: ["a.py"] },
      report: report({ claims: ["b.py"] }),
    },
    ["WARN report_mismatch"],
  ],
  ["concerns are shown", { report: report({ concerns: ["rule 2 contradicts rule 3"] }) }, ["WARN worker_concern"]],
  [
    "protected files that were left out",
    { report: report({ skipped: [at("spec.md")] }) },
    [`WARN protected_skipped ${at("spec.md")}`],
  ],
]);

describe("report: what ended the worker is said, not only that it ended", () => {
  for (const [summary, message] of [
    [
      "pi was not done after 30 minutes and was ended",
      "the worker did not finish: pi was not done after 30 minutes and was ended",
    ],
    ["", "the worker did not finish: timed-out"],
  ] as const)
    it(summary === "" ? "nothing is known" : summary, async () => {
      const input = gateInput({ report: report({ kind: "timed-out", summary }) });
      const done = await createReportGate().run(input, new AbortController().signal);
      assert.deepEqual(done.kind === "ran" ? done.findings.map((one) => one.message) : done, [message]);
    });
});

describe("report: a refused path is told where its content belongs", () => {
  for (const [path, remedy] of [
    ["src/handler.py", /^Put it into Handler\.py: the name alone, relative to features\/Billing\/Invoice$/],
    ["tests/test_invoice.py", /^Put it into Tests\.py/],
    ["features/Billing/invoice_schema.py", /^Put it into Schema\.py/],
    [
      "src/money.py",
      /^Put what it holds into the files of the slice, named relative to .*: Schema\.py, Handler\.py, Tests\.py/,
    ],
  ] as const)
    it(path, async () => {
      const input = gateInput({ slice: sliceFacts(), report: report({ refused: [path] }) });
      const done = await createReportGate().run(input, new AbortController().signal);
      assert.match(done.kind === "ran" ? (done.findings[0]?.remedy ?? "") : "", remedy);
    });
});

const problems = report({
  problems: [
    { kind: "extraction", message: "no file", evidence: "e" },
    { kind: "truncation", message: "cut", path: at("Handler.py"), evidence: "e" },
  ],
});
table("extraction", createExtractionGate(), [
  ["a problem", { report: problems }, ["FAIL extraction"]],
  ["none", { report: report() }, []],
  ["no reply", {}, ["skipped: there is no reply"]],
]);
table("truncation", createTruncationGate(), [
  ["a problem", { report: problems }, [`FAIL truncation ${at("Handler.py")}`]],
  ["none", { report: report() }, []],
]);

it("what mends a reply that was cut off is less of it, what mends a cut file is the rest of it", async () => {
  const cut = report({
    problems: [
      { kind: "truncation", message: "cut", evidence: "a/b" },
      { kind: "truncation", message: "cut", path: at("Handler.py"), evidence: "e" },
    ],
  });
  const done = await createTruncationGate().run(gateInput({ report: cut }), new AbortController().signal);
  assert.deepEqual(
    done.kind === "ran" ? done.findings.map(({ path, remedy }) => [path, remedy.split(" ").slice(0, 2).join(" ")]) : [],
    [
      [undefined, "Send less"],
      [at("Handler.py"), "Send the"],
    ],
  );
});

table("integrity", createIntegrityGate(audit({ integrity: [ruled("skip_marker")], standards: [ruled("other")] })), [
  ["its group alone", {}, ["FAIL skip_marker"]],
]);

const slice = sliceFacts();
table("structure", createStructureGate(audit({ structure: [ruled("slice.roles", at("Schema.py"))] })), [
  ["a rule of its group", { slice, before: whole }, [`FAIL slice.roles ${at("Schema.py")}`]],
  [
    "a missing file is told once",
    { slice, before: without("Schema.py") },
    [`FAIL slice_file_missing ${at("Schema.py")}`],
  ],
  ["no slice: rules alone", {}, [`FAIL slice.roles ${at("Schema.py")}`]],
]);
table("structure of a slice", createStructureGate(audit()), [
  ["whole", { slice, before: whole }, []],
  ["no handler", { slice, before: without("Handler.py") }, [`FAIL slice_file_missing ${at("Handler.py")}`]],
  ["no controller", { slice, before: without("Controller.py") }, [`FAIL slice_file_missing ${at("Controller.py")}`]],
  ["no controller wanted", { slice: sliceFacts({ controller: false }), before: without("Controller.py") }, []],
  ["no tests", { slice, before: without("Tests.py") }, [`FAIL slice_file_missing ${at("Tests.py")}`]],
  ["empty tests", { slice, before: { ...whole, [at("Tests.py")]: " \n\n" } }, [`FAIL tests_empty ${at("Tests.py")}`]],
  ["an empty __init__ is as it should be", { slice, before: { ...whole, [at("__init__.py")]: "" } }, []],
  [
    "a name that cannot be imported",
    { slice, before: whole, after: { ...whole, [at("my-money.py")]: "x\n" } },
    [`FAIL file_name ${at("my-money.py")}`],
  ],
  [
    "a folder that cannot be imported",
    { slice, before: whole, after: { ...whole, [at("2d/a.py")]: "x\n" } },
    [`FAIL file_name ${at("2d/a.py")}`],
  ],
  ["a name that can", { slice, before: whole, after: { ...whole, [at("money_2.py")]: "x\n" } }, []],
  ["data may be named as it likes", { slice, before: whole, after: { ...whole, [at("tax-rates.csv")]: "x\n" } }, []],
  [
    "what was named so before is not the worker's",
    { slice, before: { ...whole, [at("my-money.py")]: "x\n" }, after: { ...whole, [at("my-money.py")]: "y\n" } },
    [],
  ],
]);

const named = sliceFacts({ pack: { ...slice.pack, fileNames: "[a-z]+(?:-[a-z]+)*" } });
table("structure of a slice whose language names files otherwise", createStructureGate(audit()), [
  ["its own form", { slice: named, before: whole, after: { ...whole, [at("my-money.py")]: "x\n" } }, []],
  [
    "another form",
    { slice: named, before: whole, after: { ...whole, [at("money_2.py")]: "x\n" } },
    [`FAIL file_name ${at("money_2.py")}`],
  ],
  [
    "only the whole name counts",
    { slice: named, before: whole, after: { ...whole, [at("money.x.py")]: "x\n" } },
    [`FAIL file_name ${at("money.x.py")}`],
  ],
]);

/** A compiler that knows one bad word. */
const compiler: ExactSyntax = {
  check: (files) =>
    Promise.resolve({
      kind: "checked",
      by: "test",
      answers: new Map(
        files.map((file) => [
          file,
          file.endsWith("Handler.py")
            ? { kind: "fault", fault: { line: 2, column: 1, message: "invalid syntax" } }
            : file.endsWith("Schema.py")
              ? { kind: "unverified", why: "it crashed" }
              : { kind: "ok" },
        ]),
      ),
    }),
};
/** One language has its compiler, the other has none. */
const partly: ExactSyntax = {
  check: (files) =>
    Promise.resolve({
      kind: "checked",
      by: "test",
      answers: new Map(files.filter((file) => file.endsWith(".ts")).map((file) => [file, { kind: "ok" }])),
      gaps: ["Python: no python3"],
    }),
};
const asked: (readonly AbsPath[])[] = [];
const missing: ExactSyntax = {
  check: (files) => (asked.push(files), Promise.resolve({ kind: "not-verified", why: "no python3" })),
};
table(
  "standards",
  createStandardsGate({
    audit: audit({ standards: [ruled("py.E501")] }, [{ path: "a.py", why: "too long" }]),
    exact: { extensions: [".py"], syntax: compiler },
  }),
  [
    ["rules, and what no rule could read", {}, ["FAIL py.E501", "WARN file_unread a.py"]],
    [
      "the compiler's faults first",
      { before: {}, after: { [at("Handler.py")]: "a\nb c\n", [at("Schema.py")]: "x\n", [at("Tests.py")]: "x\n" } },
      [
        `FAIL syntax ${at("Handler.py")}:2`,
        `WARN syntax_unverified ${at("Schema.py")}`,
        "FAIL py.E501",
        "WARN file_unread a.py",
      ],
    ],
  ],
);
table(
  "standards of two languages, one without its compiler",
  createStandardsGate({ audit: audit({}), exact: { extensions: [".py", ".ts"], syntax: partly } }),
  [
    [
      "says which one was not verified",
      { before: {}, after: { [at("Handler.py")]: "a\n", [at("money.ts")]: "b\n" } },
      ["WARN syntax_unverified"],
    ],
  ],
);
table(
  "standards without a compiler",
  createStandardsGate({ audit: audit(), exact: { extensions: [".py"], syntax: missing } }),
  [
    ["says so", { before: {}, after: { "a.py": "x\n" } }, ["WARN syntax_unverified"]],
    ["nothing to ask", { before: { "b.py": "x\n" }, after: { "a.md": "x\n" } }, []],
  ],
);

describe("gate: constitution", () => {
  const gate = createConstitutionGate(audit({ constitution: [ruled("constitution.secret")] }));
  const messages = async (before: Record<string, string>): Promise<readonly string[]> => {
    const result = await gate.run(gateInput({ before }), new AbortController().signal);
    return result.kind === "ran" ? result.findings.map(({ message }) => message) : [];
  };
  it("names the articles as built in where the project has none of its own", async () =>
    assert.deepEqual(await messages({}), ["m (a built-in article: the project has no AGENTS.md)"]));
  it("names the command that adds what the project lacks, where no slice can mend it", async () => {
    const warned = (rule: string): Finding => ({ ...ruled(rule), severity: "WARN" });
    const all = [warned("constitution.2"), ruled("constitution.1"), warned("constitution.6")];
    const one = createConstitutionGate(audit({ constitution: all }));
    const result = await one.run(gateInput({ before: { "AGENTS.md": "# A\n" } }), new AbortController().signal);
    assert.deepEqual(result.kind === "ran" ? result.findings.map(({ remedy }) => remedy.endsWith("orch init .")) : [], [
      true,
      false,
      false,
    ]);
  });
  it("and not where it has", async () => assert.deepEqual(await messages({ "AGENTS.md": "# Articles\n" }), ["m"]));
});

const roots = { "pyproject.toml": "[project]\n", ".python-version": "3.11\n" };
table("root-files", createRootFilesGate(), [
  ["there", { slice, before: roots }, []],
  ["no feature", { before: roots }, ["skipped: the contract is no feature"]],
  ["missing before: an article's matter", { slice, before: { "pyproject.toml": "x\n" } }, []],
  [
    "removed by a worker",
    { slice, before: roots, after: { "pyproject.toml": "[project]\n" }, report: report() },
    ["FAIL root_file_removed .python-version"],
  ],
  [
    "removed by a person",
    { slice, before: roots, after: { "pyproject.toml": "[project]\n" } },
    ["WARN root_file_removed .python-version"],
  ],
  [
    "conflict markers that were there",
    { slice, before: { ...roots, "pyproject.toml": "a\n<<<<<<< HEAD\n" } },
    ["WARN root_file_conflict pyproject.toml:2"],
  ],
  [
    "conflict markers that came",
    { slice, before: roots, after: { ...roots, "pyproject.toml": "<<<<<<< HEAD\n" } },
    ["FAIL root_file_conflict pyproject.toml:1"],
  ],
]);

const registry = (known: Record<string, string>): Record<string, string> => ({
  ".features.json": `${JSON.stringify({ known_features: known })}\n`,
});
table("registry-sync", createRegistrySyncGate(), [
  ["registered", { slice, before: registry({ Invoice: "Billing" }) }, []],
  ["not registered", { slice, before: registry({}) }, ["FAIL registry_unsynced .features.json"]],
  [
    "under another domain",
    { slice, before: registry({ Invoice: "Sales" }) },
    ["FAIL registry_unsynced .features.json"],
  ],
  [
    "a name that every object has",
    { slice: sliceFacts({ target: { domain: "Billing", name: "constructor" } }), before: registry({}) },
    ["FAIL registry_unsynced .features.json"],
  ],
  ["missing", { slice, before: {} }, ["FAIL registry_missing .features.json"]],
  [
    "broken, with the line",
    { slice, before: { ".features.json": "{\n  nonsense\n" } },
    ["FAIL registry_invalid .features.json:2"],
  ],
  ["no feature", {}, ["skipped: the contract is no feature"]],
]);

const checkSpec = (text: string, where: { readonly path: string; readonly feature: string }): Finding[] =>
  text.includes(`# ${where.feature}`) ? [] : [ruled("spec.title", where.path)];
const checks = [{ name: "tests", argv: ["true"] }];
const ready = { ...registry({ Invoice: "Billing" }), [at("spec.md")]: "# Invoice\n" };
table("readiness", createReadinessGate({ checkSpec }), [
  ["fit", { slice, before: ready, contract: featureContract({ checks }) }, []],
  [
    "no spec",
    { slice, before: registry({ Invoice: "Billing" }), contract: featureContract({ checks }) },
    [`FAIL spec.missing ${at("spec.md")}`],
  ],
  [
    "what the spec's checker says",
    { slice, before: { ...ready, [at("spec.md")]: "x" }, contract: featureContract({ checks }) },
    [`FAIL spec.title ${at("spec.md")}`],
  ],
  [
    "not registered",
    { slice, before: { [at("spec.md")]: "# Invoice\n" }, contract: featureContract({ checks }) },
    ["FAIL registry_missing .features.json"],
  ],
  [
    "allowed and protected",
    { contract: featureContract({ checks, allowed: ["a.py"], protected: ["*.py"] }) },
    ["FAIL scope_conflict"],
  ],
  [
    "a glob over protected files is how features are",
    { contract: featureContract({ checks, allowed: ["a/**"], protected: ["a/b.py"] }) },
    [],
  ],
  ["outside the repository", { contract: featureContract({ checks, allowed: ["../x/**"] }) }, ["FAIL scope_invalid"]],
  [
    "a criterion without its check",
    { contract: featureContract({ checks, acceptance: [{ id: "1", text: "t", check: "lint" }] }) },
    ["FAIL acceptance_unmapped"],
  ],
  [
    "a criterion with its check",
    { contract: featureContract({ checks, acceptance: [{ id: "1", text: "t", check: "tests" }] }) },
    [],
  ],
  ["no checks at all", { contract: featureContract() }, ["WARN no_checks"]],
]);

const criteria = featureContract({ acceptance: [{ id: "1", text: "rounds half up" }] });
const judge = (value: number | string | undefined): Gate =>
  createAcceptanceGate({
    judge: { ask: () => Promise.resolve({ kind: "answered", values: value === undefined ? {} : { "1": value } }) },
    limits: { acceptRevise: 0.85, acceptWarn: 0.7 },
  });
describe("gate: acceptance", () => {
  const rows: readonly [number | string | undefined, readonly string[]][] = [
    [0.2, []],
    [0.69, []],
    [0.7, ["WARN acceptance_doubtful"]],
    [0.85, ["WARN acceptance_doubtful"]],
    [0.86, ["FAIL acceptance_unmet"]],
    ["nonsense", []],
    [undefined, []],
  ];
  for (const [value, wanted] of rows)
    it(`P(fails) ${value}`, async () => assert.deepEqual(await found(judge(value), { contract: criteria }), wanted));
  it("off is skipped, and said so", async () =>
    assert.deepEqual(
      await found(
        createAcceptanceGate({
          judge: { ask: () => Promise.resolve({ kind: "off", why: "no key" }) },
          limits: { acceptRevise: 1, acceptWarn: 1 },
        }),
        { contract: criteria },
      ),
      ["skipped: the judge is off: no key"],
    ));
  it("the judge is told what it does not see of a long change", async () => {
    const seen: string[] = [];
    const gate = createAcceptanceGate({
      judge: { ask: (_, state) => (seen.push(state), Promise.resolve({ kind: "off", why: "no key" } as const)) },
      limits: { acceptRevise: 1, acceptWarn: 1 },
    });
    const long = gateInput({ contract: criteria });
    await found(gate, { ...long, change: { ...long.change, patch: new Uint8Array(60_001).fill(65) } });
    await found(gate, { ...long, change: { ...long.change, patch: new Uint8Array(60_000).fill(65) } });
    assert.deepEqual(
      seen.map((state) => /\[.*\]$/.exec(state)?.[0]),
      ["[1 more bytes of the change are not shown: what they do is not known]", undefined],
    );
  });
  it("nothing to ask", async () =>
    assert.deepEqual(await found(judge(1), {}), ["skipped: the contract names no acceptance criterion"]));
});

describe("standards: only the changed files of the language are compiled", () => {
  it("by extension, and not what was deleted", async () => {
    asked.length = 0;
    const gate = createStandardsGate({ audit: audit(), exact: { extensions: [".py"], syntax: missing } });
    await found(gate, {
      before: { "gone.py": "x\n", "same.py": "x\n" },
      after: { "same.py": "x\n", "new.py": "y\n", "a.md": "z\n" },
    });
    assert.deepEqual(asked, [["/repo/new.py" as AbsPath & RepoPath]]);
  });
});
