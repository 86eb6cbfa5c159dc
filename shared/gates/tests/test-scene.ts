import type { SyntaxNode } from "../../ports/syntax.ts";
import { fieldOf } from "./call-shape.ts";
import { type Chain, chainsIn } from "./call-chains.ts";
import { type Binding, bindingsOf, type FeatureModules } from "./feature-imports.ts";
import type { ReadLanguage } from "./read/language.ts";

/** A name that the tests give a meaning themselves. */
export interface Definition {
  readonly name: string;
  readonly node: SyntaxNode;
  /** What it is: the body of a function, the value that is assigned. */
  readonly value: SyntaxNode;
  readonly kind: "function" | "class" | "value";
  /** The function it belongs to; undefined is the file. */
  readonly scope: SyntaxNode | undefined;
}

/** One thing that is called, with what it is called from the feature. */
export interface Called {
  /** As it stands there: `handle`, `cart.total`. */
  readonly written: string;
  /** `Handler.handle`; absent for what is not the feature's. */
  readonly path?: string;
  /** What the root already stood for when it got its name, and where that was. */
  readonly bound?: { readonly meaning: string; readonly scope: SyntaxNode | undefined; readonly at: number };
  readonly args: readonly Called[];
}

/** The names of a file of tests and what they stand for, as its tree tells. Texts are without comments. */
export class TestScene {
  readonly nodes: readonly SyntaxNode[];
  readonly bindings: readonly Binding[];
  readonly definitions: readonly Definition[];
  readonly language: ReadLanguage;
  /** The whole text. */
  readonly whole: string;
  readonly lines: readonly string[];
  readonly #lineStarts: readonly number[];
  readonly #bindingsOf: ReadonlyMap<string, readonly Binding[]>;
  readonly #definitionsOf: ReadonlyMap<string, readonly Definition[]>;
  readonly #scopes = new Map<SyntaxNode, SyntaxNode | undefined>();
  readonly #functions: readonly { readonly node: SyntaxNode; readonly first: number; readonly last: number }[];

  constructor(root: SyntaxNode, text: string, language: ReadLanguage, modules: FeatureModules) {
    this.whole = text;
    this.lines = text.split("\n");
    this.language = language;
    this.#lineStarts = [0, ...[...text.matchAll(/\n/g)].map(({ index }) => index + 1)];
    this.nodes = named(root);
    this.#functions = this.nodes
      .filter((node) => this.isFunction(node))
      .map((node) => ({ node, first: this.lineOf(node.start), last: this.lineOf(node.end) }));
    this.bindings = this.nodes.flatMap((node) => bindingsOf(node, (one) => this.textOf(one), modules));
    const loads = new Set(this.bindings.map(({ node }) => node));
    this.definitions = this.nodes.flatMap((node) => (loads.has(node) ? [] : this.#define(node)));
    this.#bindingsOf = Map.groupBy(this.bindings, ({ name }) => name);
    this.#definitionsOf = Map.groupBy(this.definitions, ({ name }) => name);
  }

  textOf(node: SyntaxNode): string {
    return this.whole.slice(node.start, node.end);
  }

  lineOf(offset: number): number {
    let [low, high] = [0, this.#lineStarts.length - 1];
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if ((this.#lineStarts[middle] ?? 0) <= offset) low = middle;
      else high = middle - 1;
    }
    return low + 1;
  }

  isFunction({ type, named }: SyntaxNode): boolean {
    return named && (this.language.is("functions", type) || this.language.is("lambdas", type));
  }

  /** The function around a node; undefined at the file's own level. */
  scopeOf(node: SyntaxNode): SyntaxNode | undefined {
    if (!this.#scopes.has(node)) this.#scopes.set(node, this.#scopeAbove(node));
    return this.#scopes.get(node);
  }

  #scopeAbove(node: SyntaxNode): SyntaxNode | undefined {
    let up = node.parent;
    // A decorator belongs to the function below it.
    for (let below = node; up; below = up, up = up.parent) {
      if (this.isFunction(up)) return up;
      if (up.type === "decorated_definition" && below.type === "decorator")
        return up.children.find(({ field }) => field === "definition");
    }
    return undefined;
  }

  /** The innermost function that holds a line. */
  scopeAt(line: number): SyntaxNode | undefined {
    return this.#functions.findLast(({ first, last }) => first <= line && line <= last)?.node;
  }

  /** A scope and those around it, the file's last. */
  around(scope: SyntaxNode | undefined): readonly (SyntaxNode | undefined)[] {
    return scope === undefined ? [undefined] : [scope, ...this.around(this.scopeOf(scope))];
  }

  binding(name: string, scope: SyntaxNode | undefined): Binding | undefined {
    const known = this.#bindingsOf.get(name);
    if (known === undefined) return undefined;
    const seen = this.around(scope);
    return known.findLast(({ node }) => seen.includes(this.scopeOf(node)));
  }

  definition(name: string, scope: SyntaxNode | undefined): Definition | undefined {
    const known = this.#definitionsOf.get(name);
    for (const here of known === undefined ? [] : this.around(scope)) {
      const found = known?.findLast((one) => one.scope === here);
      if (found !== undefined) return found;
    }
    return undefined;
  }

  /** What a chain stands for in the feature: `h.handle` -> `Handler.handle`, `cart.total` -> `Handler.Cart().total`. */
  pathOf(text: string, scope: SyntaxNode | undefined, depth = 0): string | undefined {
    return this.#meaning(text, scope, depth)?.path;
  }

  #meaning(
    text: string,
    scope: SyntaxNode | undefined,
    depth: number,
  ): { readonly path: string; readonly bound: NonNullable<Called["bound"]> } | undefined {
    const parts = text.split(".");
    for (let length = parts.length; length > 0; length -= 1) {
      const root = parts
        .slice(0, length)
        .join(".")
        .replace(/(?:\(\)|\[\])+$/, "");
      const rest = text.slice(root.length);
      const binding = this.binding(root, scope);
      if (binding !== undefined) {
        const { meaning, node } = binding;
        return { path: meaning + rest, bound: { meaning, scope: this.scopeOf(node), at: node.start } };
      }
      const definition = this.definition(root, scope);
      const value = definition?.kind === "value" && depth < 5 ? this.#alone(definition) : undefined;
      if (definition === undefined || value === undefined) continue;
      const meaning = this.pathOf(value.text, definition.scope, depth + 1);
      if (meaning !== undefined)
        return { path: meaning + rest, bound: { meaning, scope: definition.scope, at: definition.node.start } };
    }
    return undefined;
  }

  #alone({ value }: Definition): Chain | undefined {
    const [chain] = chainsIn(this.textOf(value));
    return chain?.alone === true ? chain : undefined;
  }

  /** Everything that a piece of code calls, what its names were made of and what its own functions call along with it. */
  called(text: string, scope: SyntaxNode | undefined, seen: ReadonlySet<Definition> = new Set()): readonly Called[] {
    return chainsIn(text).flatMap((chain) => this.#calledBy(chain, scope, seen));
  }

  #calledBy(chain: Chain, scope: SyntaxNode | undefined, seen: ReadonlySet<Definition>): readonly Called[] {
    const own = chain.calls.map(({ callee, args }): Called => {
      const meaning = this.#meaning(callee, scope, 0);
      return {
        written: callee,
        ...meaning,
        args: args.flatMap((one) => this.#calledBy(one, scope, seen)),
      };
    });
    const parts = chain.text.split(".");
    const names = parts.map((_, at) =>
      parts
        .slice(0, at + 1)
        .join(".")
        .replace(/(?:\(\)|\[\])+$/, ""),
    );
    const made = names.flatMap((name) => this.definition(name, scope) ?? []).find((one) => !seen.has(one));
    if (made === undefined || seen.size > 5 || (made.kind === "function" && chain.calls.length === 0)) return own;
    const inner = made.kind === "function" ? (fieldOf(made.node, "body") ?? made.value) : made.value;
    const within = made.kind === "function" ? made.value : made.scope;
    return [...own, ...this.called(this.textOf(inner), within, new Set([...seen, made]))];
  }

  /** Every name of the feature that a piece of code speaks of, called or not. */
  mentions(
    text: string,
    scope: SyntaxNode | undefined,
  ): readonly { readonly root: string; readonly meaning: string }[] {
    const of = (chain: Chain): { readonly root: string; readonly meaning: string }[] => {
      const parts = chain.text.split(".");
      const own = parts.flatMap((_, at) => this.pathOf(parts.slice(0, at + 1).join("."), scope) ?? []);
      return [
        ...own.map((meaning) => ({ root: chain.root, meaning })),
        ...chain.calls.flatMap(({ args }) => args).flatMap(of),
      ];
    };
    return chainsIn(text).flatMap(of);
  }

  /** What a function gives back, its own names spelled out; of a class what it is made from; else the value itself. */
  returned(node: SyntaxNode): string {
    if (this.language.is("classes", node.type))
      return node.children
        .filter(({ field, type }) => field === "superclasses" || type === "class_heritage")
        .map((one) => this.textOf(one))
        .join("\n");
    if (!this.isFunction(node)) return this.textOf(node);
    const body = fieldOf(node, "body");
    if (body === undefined || !/block/.test(body.type)) return this.textOf(body ?? node);
    const own = this.nodes.filter(
      (one) => node.start <= one.start && one.end <= node.end && this.scopeOf(one) === node,
    );
    const given = own.filter(({ type }) => /^(?:return_statement|yield|yield_expression)$/.test(type));
    let text = given.map((one) => this.textOf(one)).join("\n");
    for (const { name, value } of this.definitions.filter(({ scope }) => scope === node).toReversed())
      if (chainsIn(text).some(({ root }) => root === name)) text += `\n${this.textOf(value)}`;
    return text;
  }

  #define(node: SyntaxNode): readonly Definition[] {
    const { language } = this;
    const name = fieldOf(node, "name", "left");
    if (name === undefined) return [];
    const isClass = language.is("classes", node.type);
    if (isClass || language.is("functions", node.type)) {
      if (this.#inClass(node)) return [];
      const kind = isClass ? "class" : "function";
      return [{ name: this.textOf(name), node, value: node, kind, scope: this.#owner(this.textOf(name), node) }];
    }
    const value = fieldOf(node, "right", "value");
    if (value === undefined || !language.is("assignments", node.type)) return [];
    const text = this.textOf(name);
    if (/^(?:self|this)\.\w+$/.test(text)) return [{ name: text, node, value, kind: "value", scope: undefined }];
    if (name.type !== "identifier" || this.#inClass(node)) return [];
    const kind = this.isFunction(value) ? "function" : "value";
    return [{ name: text, node, value, kind, scope: this.#owner(text, node) }];
  }

  /** The scope that a name gets its meaning in: the file's, where a function says so or declares no such name. */
  #owner(name: string, node: SyntaxNode): SyntaxNode | undefined {
    const scope = this.scopeOf(node);
    if (scope === undefined) return undefined;
    const text = this.textOf(scope);
    if (new RegExp(`\\bglobal\\b[^\\n]*\\b${name.replaceAll("$", "\\$")}\\b`).test(text)) return undefined;
    if (node.type !== "assignment_expression") return scope;
    const declared = new RegExp(`\\b(?:let|var)\\s+${name.replaceAll("$", "\\$")}\\b`);
    return this.around(scope).find((one) => one !== undefined && declared.test(this.textOf(one)));
  }

  #inClass(node: SyntaxNode): boolean {
    for (let up = node.parent; up; up = up.parent) {
      if (this.isFunction(up)) return false;
      if (this.language.is("classes", up.type)) return true;
    }
    return false;
  }
}

/** Every named node, parents before what is in them. */
function named(root: SyntaxNode): readonly SyntaxNode[] {
  const found: SyntaxNode[] = [];
  const pending = [root];
  for (let node = pending.pop(); node; node = pending.pop()) {
    found.push(node);
    for (const child of node.children.toReversed()) if (child.named) pending.push(child);
  }
  return found;
}
