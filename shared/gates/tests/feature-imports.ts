import type { SyntaxNode } from "../../ports/syntax.ts";
import type { SliceFacts } from "../../ports/gate.ts";
import { fieldOf } from "./call-shape.ts";

/** A name of the tests that stands for something of the feature. */
export interface Binding {
  readonly name: string;
  /** In the feature: `Handler`, `Handler.handle`; what its package exports itself is `__init__.handle`. */
  readonly meaning: string;
  readonly node: SyntaxNode;
}

/** The modules of a slice, by every way of naming them. */
export class FeatureModules {
  readonly #dir: readonly string[];
  readonly #modules: ReadonlySet<string>;

  constructor({ dir, pack }: SliceFacts) {
    this.#dir = dir.split("/");
    const roles = Object.entries(pack.roles).filter(([role]) => role !== "tests" && role !== "init");
    this.#modules = new Set(roles.map(([, name]) => (name ?? "").replace(/\.\w+$/, "")));
  }

  /** `.Handler`, `features.Billing.Invoice.Handler`, `./Handler.ts` -> `Handler`; the package itself is `__init__`. */
  named(text: string): string | undefined {
    const isPath = text.includes("/") || text === ".";
    const up = isPath ? (text.match(/\.\.\//g)?.length ?? 0) : (/^\.*/.exec(text)?.[0].length ?? 0) - 1;
    const parts = (isPath ? text.replace(/\.[cm]?[jt]sx?$/, "").split("/") : text.split(".")).filter(
      (part) => part !== "" && part !== "." && part !== "..",
    );
    const isRelative = text.startsWith(".");
    const last = parts.at(-1) ?? "";
    const isModule = this.#modules.has(last);
    const folder = isModule || (isPath && last === "index") ? parts.slice(0, -1) : parts;
    if (isRelative ? folder.length !== up : !isModule && folder.length === 0) return undefined;
    if (folder.some((part, at) => part !== this.#dir.at(at - folder.length))) return undefined;
    return isModule ? last : "__init__";
  }

  /** `features.Billing.Invoice.Handler.Cart.total`, as texts name what they replace. */
  path(text: string): string | undefined {
    const parts = text.split(".");
    for (let length = parts.length - 1; length > 0; length -= 1) {
      const module = this.named(parts.slice(0, length).join("."));
      if (module !== undefined) return [module, ...parts.slice(length)].join(".");
    }
    return undefined;
  }

  /** What is taken from a module, or from the package. */
  member(module: string, name: string): string {
    return module === "__init__" && this.#modules.has(name) ? name : `${module}.${name}`;
  }
}

type TextOf = (node: SyntaxNode) => string;

/** What one node of the tests takes from the feature: an import, or a module that is loaded into names. */
export function bindingsOf(node: SyntaxNode, textOf: TextOf, modules: FeatureModules): readonly Binding[] {
  if (node.type === "import_from_statement") return fromImport(node, textOf, modules);
  if (node.type === "import_statement")
    return fieldOf(node, "source") === undefined
      ? wholeImport(node, textOf, modules)
      : scriptImport(node, textOf, modules);
  if (node.type === "variable_declarator" || node.type === "assignment") return loaded(node, textOf, modules);
  return [];
}

const aliased = (node: SyntaxNode, textOf: TextOf): { readonly name: string; readonly as: string } => {
  const [name, as] = [fieldOf(node, "name"), fieldOf(node, "alias")];
  const own = textOf(name ?? node);
  return { name: own, as: as === undefined ? own : textOf(as) };
};

function fromImport(node: SyntaxNode, textOf: TextOf, modules: FeatureModules): readonly Binding[] {
  const from = fieldOf(node, "module_name");
  const module = from === undefined ? undefined : modules.named(textOf(from).replace(/\s/g, ""));
  if (module === undefined) return [];
  return node.children
    .filter(({ field }) => field === "name")
    .map((one) => aliased(one, textOf))
    .map(({ name, as }) => ({ name: as, meaning: modules.member(module, name), node }));
}

function wholeImport(node: SyntaxNode, textOf: TextOf, modules: FeatureModules): readonly Binding[] {
  return node.children
    .filter(({ field }) => field === "name")
    .map((one) => aliased(one, textOf))
    .flatMap(({ name, as }) => {
      const module = modules.named(name);
      return module === undefined ? [] : [{ name: as, meaning: module, node }];
    });
}

function scriptImport(node: SyntaxNode, textOf: TextOf, modules: FeatureModules): readonly Binding[] {
  const source = fieldOf(node, "source");
  const module = source === undefined ? undefined : modules.named(unquoted(textOf(source)));
  if (module === undefined) return [];
  const found: Binding[] = [];
  const pending = [...node.children];
  for (let one = pending.shift(); one; one = pending.shift()) {
    if (one.type === "import_specifier") {
      const { name, as } = aliased(one, textOf);
      found.push({ name: as, meaning: `${module}.${name}`, node });
    } else if (one.type === "namespace_import") {
      const name = one.children.find(({ type }) => type === "identifier");
      if (name !== undefined) found.push({ name: textOf(name), meaning: module, node });
    } else if (one.type === "identifier") found.push({ name: textOf(one), meaning: `${module}.default`, node });
    else pending.push(...one.children.filter(({ named }) => named));
  }
  return found;
}

/** `const { handle: h } = await import("./Handler.ts")`, `H = importlib.import_module(".Handler", __package__)`. */
function loaded(node: SyntaxNode, textOf: TextOf, modules: FeatureModules): readonly Binding[] {
  const [left, value] = [fieldOf(node, "name", "left"), fieldOf(node, "value", "right")];
  if (left === undefined || value === undefined) return [];
  const source = /^\(?\s*(?:await\s+)?(?:import|require|(?:importlib\.)?import_module)\(\s*(["'`])([^"'`]+)\1/.exec(
    textOf(value),
  )?.[2];
  const module = source === undefined ? undefined : modules.named(source);
  if (module === undefined) return [];
  if (left.type === "identifier") return [{ name: textOf(left), meaning: module, node }];
  return left.children.flatMap((one): readonly Binding[] => {
    if (one.type === "shorthand_property_identifier_pattern")
      return [{ name: textOf(one), meaning: `${module}.${textOf(one)}`, node }];
    const [key, as] = [fieldOf(one, "key"), fieldOf(one, "value")];
    return key && as?.type === "identifier" ? [{ name: textOf(as), meaning: `${module}.${textOf(key)}`, node }] : [];
  });
}

export function unquoted(text: string): string {
  return text.replace(/^[A-Za-z]{0,2}(["'`]{1,3})([\s\S]*)\1$/, "$2");
}
