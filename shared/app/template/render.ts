import type { TemplateLanguage } from "../../model/template-language.ts";
import { filled } from "../../features/scaffold.ts";
import type { Case } from "./examples.ts";
import type { Values } from "./evaluate.ts";
import { isList, type Scalar, type ValueType } from "./expression.ts";
import { type Doc, group, layout } from "./layout.ts";
import { type Failure, type Input, onlyInputs, type Plan } from "./plan.ts";
import { createWriter, fill, type Writer } from "./render-expression.ts";

/** A plan as the files of a slice. Pure: language.json says how things are spelled, the templates where they stand. */
export interface RenderOrder {
  readonly feature: string;
  readonly plan: Plan;
  readonly cases: readonly Case[];
  readonly language: TemplateLanguage;
  /** role -> text with `{{slot}}`s. */
  readonly templates: Readonly<Record<string, string>>;
  /** Roles to write: `schema`, `handler`, `tests`, and `controller` unless it is not wanted. */
  readonly roles: readonly string[];
}

/** Names that stand in the way, in the language's own words. */
export function unfitNames(plan: Plan, language: TemplateLanguage): readonly string[] {
  const names = [...plan.inputs.map(({ name }) => name), ...plan.values.map(({ name }) => name)];
  const fields = plan.inputs.flatMap(({ type }) =>
    isList(type) && typeof type.list !== "string" ? Object.keys(type.list) : [],
  );
  const reserved = new Set(language.reserved);
  const wrong = [...names, ...fields]
    .filter((name) => reserved.has(name))
    .map((name) => `${name}: the name means something else in the code that is written`);
  const own = new Set(language.exceptions);
  const foreign = plan.errors.flatMap(({ raises }) =>
    raises !== undefined && !own.has(raises) && reserved.has(raises) ? [`${raises}: not a name for an error`] : [],
  );
  return [...wrong, ...foreign];
}

/** role -> text */
export function renderSlice(order: RenderOrder): Readonly<Record<string, string>> {
  const parts = new Renderer(order);
  const texts: Record<string, string> = {};
  for (const role of order.roles) {
    const template = order.templates[role];
    const slots = template === undefined ? undefined : parts.slots(role);
    if (template !== undefined && slots !== undefined)
      texts[role] = tidy(filled(template, { ...slots, feature: order.feature }));
  }
  return texts;
}

class Renderer {
  readonly #order: RenderOrder;
  readonly #writer: Writer;
  readonly #types: ReadonlyMap<string, ValueType>;

  constructor(order: RenderOrder) {
    this.#order = order;
    this.#types = new Map(order.plan.inputs.map(({ name, type }) => [name, type]));
    this.#writer = createWriter(order.language, new Set(this.#types.keys()), (list) => this.#itemName(list));
  }

  slots(role: string): Readonly<Record<string, string>> | undefined {
    switch (role) {
      case "schema":
        return this.#schema();
      case "handler":
        return this.#handler();
      case "controller":
        return this.#controller();
      case "tests":
        return this.#tests();
      default:
        return undefined;
    }
  }

  get #hasController(): boolean {
    return this.#order.roles.includes("controller");
  }

  get #ownError(): string {
    return `${pascal(this.#order.feature)}Error`;
  }

  /** The exception that a failure raises, and those that the slice has to define. */
  #raised({ raises }: Failure): string {
    return raises ?? this.#ownError;
  }

  #defined(): readonly string[] {
    const named = this.#order.plan.errors.map((failure) => this.#raised(failure));
    const builtIn = new Set(this.#order.language.exceptions);
    return [...new Set([...named, ...(this.#hasController ? [this.#ownError] : [])])]
      .filter((name) => !builtIn.has(name))
      .toSorted();
  }

  // --- files ---

  #schema(): Readonly<Record<string, string>> {
    const { plan, language } = this.#order;
    const errors = this.#defined().map((name) =>
      this.#block("error", { name, doc: "A refusal; the message says why." }),
    );
    const records = plan.inputs.flatMap(({ name, type }) => {
      if (!isList(type) || typeof type.list === "string") return [];
      const body = Object.entries(type.list).map(([field, of]) =>
        this.#line("attribute", { name: field, type: language.types[of] }, 1),
      );
      return [this.#block("record", { name: this.#recordName(name), list: name, body: body.join("\n") })];
    });
    const request = sorted(plan.inputs).map((input) => this.#attribute(input));
    const response = plan.outputs.map(({ name, type }) =>
      this.#line("attribute", { name, type: language.types[type] }, 1),
    );
    const separated = (blocks: readonly string[]): string => blocks.map((block) => `${block}\n\n\n`).join("");
    const slots = {
      errors: separated(errors),
      records: separated(records),
      request: body(request),
      response: body(response),
    };
    return { ...slots, imports: this.#imports(`@dataclass ${Object.values(slots).join("\n")}`) };
  }

  #handler(): Readonly<Record<string, string>> {
    const { plan } = this.#order;
    const early = plan.errors.filter((failure) => onlyInputs(plan, failure));
    const late = plan.errors.filter((failure) => !early.includes(failure));
    const lines = [
      ...(early.length === 0 ? [] : [this.#line("check", {}, 1)]),
      ...plan.values.map(({ name, type, formula }) => {
        const value = this.#writer.expression(formula);
        const widened = type === "decimal" && formula.type === "int" ? this.#writer.form("widen", { 0: value }) : value;
        // A call breaks inside its own brackets; anything else needs a pair around it.
        const isCall = widened !== value || ["call", "aggregate", "lookup", "name", "number"].includes(formula.kind);
        return this.#line("assign", { name, value: isCall ? widened : this.#writer.wrapped(widened) }, 1);
      }),
      ...late.map((failure) => this.#refusal(failure)),
      this.#line(
        "return",
        {
          value: this.#call(
            "Response",
            plan.outputs.map(({ name }) => this.#writer.form("keyword", { name, value: name })),
          ),
        },
        1,
      ),
    ];
    const blocks = [
      ...(early.length === 0
        ? []
        : [this.#block("check", { body: early.map((failure) => this.#refusal(failure)).join("\n") })]),
      ...(lines.some((line) => /\brounded\(/.test(line)) ||
      early.some((failure) => this.#refusal(failure).includes("rounded("))
        ? [this.#block("rounded", {})]
        : []),
    ];
    const slots = { body: lines.join("\n"), helpers: blocks.map((block) => `\n\n\n${block}`).join("") };
    const code = Object.values(slots).join("\n");
    const imports = this.#imports(code);
    return {
      ...slots,
      imports: imports === "" ? "" : `${imports}\n\n`,
      schemanames: this.#schemaNames(code, ["Request", "Response"]),
    };
  }

  #controller(): Readonly<Record<string, string>> {
    const { plan } = this.#order;
    const rows = plan.outputs.map(({ name, type }) =>
      this.#writer.form("dict-row", {
        key: this.#writer.text(name),
        value: this.#writer.form(type === "decimal" ? "write-decimal" : "write-plain", { name }),
      }),
    );
    const answer = this.#line("return", { value: this.#writer.form("dict", { args: this.#writer.list(rows) }) }, 1);
    const args = plan.inputs.map((input) =>
      this.#writer.form("keyword", { name: input.name, value: this.#reading(input) }),
    );
    const read = this.#line("return", { value: this.#call("Request", args) }, 2);
    const code = `${answer}\n${read}\n${this.#ownError}`;
    return {
      answer,
      read,
      error: this.#ownError,
      imports: `${this.#imports(`Any ${code}`)}\n`,
      schemanames: this.#schemaNames(code, ["Request"]),
    };
  }

  #tests(): Readonly<Record<string, string>> {
    const { cases } = this.#order;
    const tests = [...cases.map((one) => this.#test(one)), ...this.#controllerTests()].join("\n\n\n");
    const imports = this.#imports(tests);
    return {
      tests,
      imports: imports === "" ? "" : `${imports}\n\n`,
      pytest: cases.some(({ kind }) => kind === "error") ? "import pytest\n\n" : "",
      controller: this.#hasController ? "from .Controller import control\n" : "",
      schemanames: this.#schemaNames(tests, ["Request"]),
    };
  }

  // --- parts ---

  #test(one: Case): string {
    const asked = this.#call("handle", [this.#call("Request", this.#arguments(one.inputs))]);
    const lines =
      one.kind === "error"
        ? [
            this.#line("caught", { name: this.#raised(one.failure) }, 1),
            layout(asked, this.#order.language, 2),
            this.#line(
              "same",
              {
                left: this.#statement("caught-args", {}),
                right: this.#writer.form("tuple-one", { args: this.#writer.text(one.failure.message) }),
              },
              1,
            ),
          ]
        : [
            this.#line("answer", { value: asked }, 1),
            ...[...one.expected].map(([name, value]) => this.#assertion(name, value)),
          ];
    return this.#block("test", { name: one.name, body: lines.join("\n") });
  }

  #assertion(name: string, value: Parameters<Writer["value"]>[0]): string {
    const type = this.#order.plan.outputs.find((output) => output.name === name)?.type ?? "text";
    const left = `response.${name}`;
    return this.#line(type === "bool" ? "is" : "same", { left, right: this.#writer.value(value, type, "") }, 1);
  }

  /** The door gives what the handler gives: the first example, through outside data. */
  #controllerTests(): readonly string[] {
    const first = this.#order.cases.find((one) => one.kind === "result");
    if (!this.#hasController || first?.kind !== "result") return [];
    const row = (name: string, value: Doc): Doc =>
      this.#writer.form("dict-row", { key: this.#writer.text(name), value });
    const dict = (rows: readonly Doc[]): Doc => this.#writer.form("dict", { args: this.#writer.list(rows) });
    const payload = dict(
      [...first.inputs].map(([name, value]) => row(name, this.#writer.data(value, this.#types.get(name) ?? "text"))),
    );
    const lines = [this.#line("answer", { value: this.#call("control", [payload]) }, 1)];
    for (const [name, value] of first.expected) {
      const type: Scalar = this.#order.plan.outputs.find((output) => output.name === name)?.type ?? "text";
      const got = this.#writer.form("read-key", { from: "response", key: this.#writer.text(name) });
      const left = type === "decimal" ? this.#writer.form("decimal", { text: got }) : got;
      lines.push(this.#line(type === "bool" ? "is" : "same", { left, right: this.#writer.value(value, type, "") }, 1));
    }
    return [this.#block("test", { name: `control_${first.name}`, body: lines.join("\n") })];
  }

  #arguments(inputs: Values): readonly Doc[] {
    return [...inputs].map(([name, value]) =>
      this.#writer.form("keyword", {
        name,
        value: this.#writer.value(value, this.#types.get(name) ?? "text", this.#recordName(name)),
      }),
    );
  }

  #refusal(failure: Failure): string {
    const condition = this.#line(
      "refuse-if",
      { value: this.#writer.wrapped(this.#writer.expression(failure.when)) },
      1,
    );
    return `${condition}\n${this.#line("raise", { name: this.#raised(failure), args: this.#writer.text(failure.message) }, 2)}`;
  }

  #reading({ name, type, fallback }: Input): Doc {
    const key = this.#writer.text(name);
    const from =
      fallback === undefined
        ? this.#writer.form("read-key", { from: "payload", key })
        : this.#writer.form("read-key-or", { from: "payload", key, value: this.#writer.expression(fallback) });
    if (!isList(type)) return this.#writer.form(`read-${type}`, { 0: from });
    const inner = type.list;
    if (typeof inner === "string")
      return this.#writer.form("read-list", {
        body: this.#writer.form(`read-${inner}`, { 0: "item" }),
        item: "item",
        from,
      });
    const fields = Object.entries(inner).map(([field, of]) => {
      const value = this.#writer.form(`read-${of}`, {
        0: this.#writer.form("read-key", { from: "item", key: this.#writer.text(field) }),
      });
      return this.#writer.form("keyword", { name: field, value });
    });
    return this.#writer.form("read-list", { body: this.#call(this.#recordName(name), fields), item: "item", from });
  }

  #attribute({ name, type, fallback }: Input): string {
    const { types } = this.#order.language;
    const spelled = !isList(type)
      ? types[type]
      : types.list.replace("{item}", typeof type.list === "string" ? types[type.list] : this.#recordName(name));
    if (fallback === undefined) return this.#line("attribute", { name, type: spelled }, 1);
    return this.#line("attribute-or", { name, type: spelled, value: this.#writer.expression(fallback) }, 1);
  }

  #call(name: string, args: readonly Doc[]): Doc {
    return this.#writer.form("call", { name, args: this.#writer.list(args) });
  }

  #statement(name: string, slots: Readonly<Record<string, Doc>>): Doc {
    return fill(this.#order.language.statements[name] ?? "", slots);
  }

  #line(name: string, slots: Readonly<Record<string, Doc>>, depth: number): string {
    return layout(group(this.#statement(name, slots)), this.#order.language, depth);
  }

  #block(name: string, slots: Readonly<Record<string, string>>): string {
    return (this.#order.language.blocks[name] ?? "").replace(
      /\{(\w+)\}/g,
      (whole, slot: string) => slots[slot] ?? whole,
    );
  }

  /** Lines for the words that the code uses; texts do not count. */
  #imports(code: string): string {
    const { imports, importLine } = this.#order.language;
    const bare = code.replace(/"(?:\\.|[^"\\])*"/g, '""');
    const used = imports.filter(({ word }) => new RegExp(`(?<![\\w.])${word}(?!\\w)`).test(bare));
    const modules = [...new Set(used.map(({ from }) => from))];
    return modules
      .map((from) =>
        importLine.replace("{from}", from).replace(
          "{names}",
          this.#names(
            from,
            used.filter((one) => one.from === from).map(({ word }) => word),
          ),
        ),
      )
      .join("\n");
  }

  /** What of the schema the code uses, in the order tools expect. */
  #schemaNames(code: string, always: readonly string[]): string {
    const records = this.#order.plan.inputs.flatMap(({ name, type }) =>
      isList(type) && typeof type.list !== "string" ? [this.#recordName(name)] : [],
    );
    const bare = code.replace(/"(?:\\.|[^"\\])*"/g, '""');
    const used = [...this.#defined(), ...records].filter((name) => new RegExp(`\\b${name}\\b`).test(bare));
    return this.#names(
      ".Schema",
      [...new Set([...always, ...used])].toSorted((a, b) => (a < b ? -1 : 1)),
    );
  }

  /** On one line when it fits, else one a line in brackets. */
  #names(from: string, names: readonly string[]): string {
    const { width, indent, importLine } = this.#order.language;
    const flat = names.join(", ");
    const line = importLine.replace("{from}", from).replace("{names}", flat);
    return line.length <= width ? flat : `(\n${names.map((name) => `${indent}${name},\n`).join("")})`;
  }

  #recordName(list: string): string {
    const name = pascal(singular(list));
    return name === "Request" || name === "Response" ? `${name}Item` : name;
  }

  #itemName(list: string): string {
    const name = singular(list).toLowerCase();
    const { plan, language } = this.#order;
    const taken = new Set([
      ...plan.inputs.map((input) => input.name),
      ...plan.values.map((value) => value.name),
      ...language.reserved,
    ]);
    return taken.has(name) || name === list ? "item" : name;
  }
}

/** Without a default first: the language wants it so. */
function sorted(inputs: readonly Input[]): readonly Input[] {
  return [
    ...inputs.filter(({ fallback }) => fallback === undefined),
    ...inputs.filter(({ fallback }) => fallback !== undefined),
  ];
}

const body = (lines: readonly string[]): string => (lines.length === 0 ? "" : `\n${lines.join("\n")}`);

function singular(name: string): string {
  return name.length > 3 && name.endsWith("s") && !name.endsWith("ss") ? name.slice(0, -1) : name;
}

function pascal(name: string): string {
  return name.replace(/(?:^|_)([a-z0-9])/gi, (_, letter: string) => letter.toUpperCase()).replaceAll("_", "");
}

/** One line end at the end, none doubled where a slot was empty. */
function tidy(text: string): string {
  return `${text
    .replace(/[ \t]+$/gm, "")
    .replace(/\n{4,}/g, "\n\n\n")
    .trimEnd()}\n`;
}
