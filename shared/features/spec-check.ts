import type { Finding } from "../model/finding.ts";
import {
  parseSpec,
  plainCell,
  saysNone,
  type Spec,
  type SpecSection,
  specSection,
  specSections,
  specTables,
} from "./spec.ts";
import { specPlaceholders } from "./spec-placeholder.ts";

/**
 * Is the spec well-formed enough to work from? Structure only: sections, tables, every error case named. FAIL stops
 * `do`; WARN says what the work will lack. Whether it is a good spec is for people and the spec-QA persona.
 */
export function checkSpec(text: string, at: { readonly path: string; readonly feature: string }): readonly Finding[] {
  const spec = parseSpec(text);
  const put = findingAt(at.path);
  return [
    ...checkTitle(spec, at.feature, put),
    ...checkSections(spec, put),
    ...specTableNames.flatMap((name) => checkTable(spec, name, put)),
    ...checkErrors(spec, put),
    ...checkMentionedErrors(spec, put),
    ...checkSubstance(spec, put),
    ...specPlaceholders(spec).map(({ line, where, text }) =>
      put("spec.placeholder", "FAIL", line, `${where} says only: ${text}`, "say what holds there, or remove it", text),
    ),
    ...checkAmendments(spec, put),
  ].toSorted((a, b) => (a.line ?? 0) - (b.line ?? 0));
}

type TableName = keyof typeof specTables;
const specTableNames = ["Inputs", "Outputs", "Errors", "Examples"] as const satisfies readonly TableName[];

const tableHead = (name: TableName): string => `| ${specTables[name].join(" | ")} |`;

type Put = (
  rule: string,
  severity: Finding["severity"],
  line: number,
  message: string,
  remedy: string,
  evidence?: string,
) => Finding;

const findingAt =
  (path: string): Put =>
  (rule, severity, line, message, remedy, evidence = "") => ({
    rule,
    severity,
    message,
    path,
    line,
    evidence: evidence.slice(0, 200),
    remedy,
  });

function checkTitle(spec: Spec, feature: string, put: Put): readonly Finding[] {
  if (spec.title === undefined)
    return [put("spec.title", "FAIL", 1, "the spec has no title", `begin it with: # ${feature}`)];
  if (plainCell(spec.title.text) === feature) return [];
  return [
    put(
      "spec.title",
      "FAIL",
      spec.title.line,
      `the title is not the feature's name ${feature}`,
      `write: # ${feature}`,
      spec.title.text,
    ),
  ];
}

function checkSections(spec: Spec, put: Put): readonly Finding[] {
  const found: Finding[] = [];
  for (const name of specSections) {
    const all = spec.sections.filter((section) => section.name.toLowerCase() === name.toLowerCase());
    const [first, second] = all;
    if (first === undefined)
      found.push(put("spec.section", "FAIL", 1, `the section ${name} is missing`, `add: ## ${name}`));
    if (second !== undefined)
      found.push(put("spec.section", "FAIL", second.line, `the section ${name} stands twice`, "join the two"));
  }
  const overview = specSection(spec, "Overview");
  if (overview !== undefined && (overview.body === "" || saysNone(overview.body)))
    found.push(
      put("spec.overview", "FAIL", overview.line, "the overview is empty", "say in a sentence what the feature does"),
    );
  return found;
}

function checkTable(spec: Spec, name: TableName, put: Put): readonly Finding[] {
  const section = specSection(spec, name);
  if (section === undefined || section.body === "" || saysNone(section.body)) return [];
  const columns: readonly string[] = specTables[name];
  const wanted = `write a table: ${tableHead(name)}`;
  const { table } = section;
  if (table === undefined)
    return [put("spec.table", "FAIL", section.line, `${name} holds no table`, `${wanted}, or: None.`)];
  const given = table.columns.map((column) => plainCell(column).toLowerCase());
  if (given.length !== columns.length || columns.some((column, at) => given[at] !== column)) {
    return [
      put(
        "spec.table",
        "FAIL",
        table.line,
        `${name} has other columns than ${columns.join(", ")}`,
        wanted,
        table.columns.join(" | "),
      ),
    ];
  }
  return table.rows.flatMap((row) => {
    const evidence = row.cells.join(" | ");
    if (row.cells.length !== columns.length)
      return [
        put(
          "spec.table",
          "FAIL",
          row.line,
          `this row of ${name} has ${row.cells.length} cells, not ${columns.length}`,
          "write a bar inside a cell as \\|",
          evidence,
        ),
      ];
    const must = name === "Inputs" || name === "Outputs" ? 2 : columns.length;
    const empty = columns.slice(0, must).find((_, at) => row.cells[at] === "");
    return empty === undefined
      ? []
      : [
          put(
            name === "Errors" && empty === "case" ? "spec.error-case" : "spec.cell",
            "FAIL",
            row.line,
            `this row of ${name} leaves ${empty} empty`,
            `fill in ${empty}, or remove the row`,
            evidence,
          ),
        ];
  });
}

/** Two cases of one name cannot be told apart by a caller or a test. */
function checkErrors(spec: Spec, put: Put): readonly Finding[] {
  const seen = new Set<string>();
  return (specSection(spec, "Errors")?.table?.rows ?? []).flatMap(({ cells, line }) => {
    const name = plainCell(cells[0] ?? "").toLowerCase();
    if (name === "" || !seen.has(name)) {
      seen.add(name);
      return [];
    }
    return [
      put(
        "spec.error-case",
        "FAIL",
        line,
        `the error case ${cells[0]} stands twice`,
        "give each case its own name",
        cells.join(" | "),
      ),
    ];
  });
}

/** An error that a rule or an example speaks of is a case of the table. */
function checkMentionedErrors(spec: Spec, put: Put): readonly Finding[] {
  const errors = specSection(spec, "Errors");
  const named = (errors?.body ?? "").toLowerCase();
  const rules = specSection(spec, "Rules");
  const places = [
    ...(rules?.items ?? []).map(({ text, line }) => ({ text, line, where: "Rules" })),
    ...(specSection(spec, "Examples")?.table?.rows ?? []).map(({ cells, line }) => ({
      text: cells[1] ?? "",
      line,
      where: "Examples",
    })),
  ];
  return places.flatMap(({ text, line, where }) => {
    const mentioned = [...new Set(text.match(/\b[A-Z]\w*(?:Error|Exception)\b/g) ?? [])].filter(
      (name) => !named.includes(name.toLowerCase()),
    );
    if (mentioned.length > 0)
      return [
        put(
          "spec.error-unnamed",
          "FAIL",
          line,
          `${where} speaks of ${mentioned.join(", ")}, Errors does not`,
          "add a row to Errors for each",
          text,
        ),
      ];
    const vague =
      where === "Examples" &&
      /^`?(?:error|raises|rejected|refused)\b/i.test(text) &&
      (errors?.table?.rows.length ?? 0) === 0;
    return vague
      ? [
          put(
            "spec.error-unnamed",
            "FAIL",
            line,
            "this example expects an error, Errors names none",
            "add the case to Errors",
            text,
          ),
        ]
      : [];
  });
}

/** The template's own rule says only that there will be rules. */
const templateRule = /^\S+ does what the overview says\.?$/i;
/** `defaultOverview`: nobody has said yet what the feature does. */
const templateOverview = /\bSay here in a sentence what it does\b/;

/** Rules or examples are what a worker and a test can be held to: a spec with neither cannot be worked from. */
function checkSubstance(spec: Spec, put: Put): readonly Finding[] {
  const rules = specSection(spec, "Rules");
  const examples = specSection(spec, "Examples");
  const found = [...checkOverview(spec, put), ...checkEmptyTables(spec, put)];
  const rows = examples?.table?.rows.length ?? 0;
  if (rules !== undefined && examples !== undefined && !saysRules(rules) && rows === 0) {
    const message = "Rules and Examples say nothing yet, so nobody can tell when the work is right";
    return [
      ...found,
      put(
        "spec.rules",
        "FAIL",
        rules.line,
        message,
        `write rules as: 1. ..., or rows of Examples: ${tableHead("Examples")}`,
      ),
    ];
  }
  if (rules !== undefined && rules.items.length === 0 && !saysNone(rules.body)) {
    const message = rules.body === "" ? "there are no rules" : "the rules are not numbered";
    found.push(put("spec.rules", "WARN", rules.line, message, "write each rule as: 1. ..."));
  }
  if (examples !== undefined && isThin(examples))
    found.push(
      put(
        "spec.examples",
        "WARN",
        examples.line,
        "there is no example, so nothing says what a test expects",
        "add input and expected, nasty cases too",
      ),
    );
  return found;
}

/** Rules that are not numbered are rules; the form is another matter. */
function saysRules({ items, body }: SpecSection): boolean {
  return items.length === 0 ? body !== "" && !saysNone(body) : items.some(({ text }) => !templateRule.test(text));
}

function checkOverview(spec: Spec, put: Put): readonly Finding[] {
  const overview = specSection(spec, "Overview");
  if (overview === undefined || !templateOverview.test(overview.body)) return [];
  const message = "the overview is still the template's";
  return [put("spec.overview", "WARN", overview.line, message, "say in a sentence what the feature does")];
}

function checkEmptyTables(spec: Spec, put: Put): Finding[] {
  return (["Inputs", "Outputs"] as const).flatMap((name) => {
    const section = specSection(spec, name);
    return section !== undefined && isThin(section)
      ? [put("spec.empty", "WARN", section.line, `${name} names nothing`, "add a row, or write: None.")]
      : [];
  });
}

function isThin(section: SpecSection): boolean {
  return (section.table?.rows.length ?? 0) === 0 && !saysNone(section.body);
}

function checkAmendments(spec: Spec, put: Put): readonly Finding[] {
  return spec.amendments.flatMap(({ number, line }, at) =>
    number === at + 1
      ? []
      : [
          put(
            "spec.amendment",
            "WARN",
            line,
            `amendment ${number} stands where ${at + 1} is due`,
            "number the amendments 1, 2, 3",
          ),
        ],
  );
}
