import type { SyntaxNode } from "../../ports/syntax.ts";
import { fieldOf } from "./call-shape.ts";
import { type FeatureModules, unquoted } from "./feature-imports.ts";
import type { TestScene } from "./test-scene.ts";

/** Something of the feature that the tests give another meaning. */
export interface Replacement {
  /** `Handler.handle`; `@handle` is a name of the tests, `@cart.total` a member of something they made. */
  readonly key: string;
  /** The last name, for people. */
  readonly name: string;
  readonly node: SyntaxNode;
  /** From where on in the file; what a test program puts before the imports holds from the start. */
  readonly from: number;
  /** The function it stands in. */
  readonly scope: SyntaxNode | undefined;
  /** `no`: the real code is still asked, or nothing that can be called is there. `perhaps`: it is asked for something. */
  readonly replaces: "yes" | "perhaps" | "no";
}

/** Everything that a file of tests replaces of its feature, in the order of the file. */
export function replacementsIn(scene: TestScene, modules: FeatureModules): readonly Replacement[] {
  const found = [
    ...renamed(scene),
    ...scene.nodes.flatMap((node) => [...memberAssigned(node, scene), ...replacedByCall(node, scene, modules)]),
  ];
  return found.toSorted((a, b) => a.node.start - b.node.start);
}

/** Types of values that nobody can call. */
const plain =
  /^(?:integer|float|number|string|concatenated_string|template_string|none|null|undefined|true|false|list|tuple|set|dictionary|array|object|list_comprehension|dictionary_comprehension)$/;
const standInCall = /^(?:\w+\.)*(?:\w*Mock|fn|stub|create_autospec)$/;

/** A name that was taken from the feature, or what the feature calls it, is defined by the tests. */
function renamed(scene: TestScene): readonly Replacement[] {
  return scene.definitions.flatMap((one): readonly Replacement[] => {
    const { name, node, value, kind, scope } = one;
    const taken = scene.bindings.find(
      (binding) =>
        binding.meaning.includes(".") &&
        binding.node.start < node.start &&
        (binding.name === name || (binding.meaning.endsWith(`.${name}`) && scene.binding(name, scope) === undefined)) &&
        scene.around(scope).includes(scene.scopeOf(binding.node)),
    );
    if (taken === undefined || plain.test(value.type)) return [];
    // A local that is no function is named after what it holds: `total = handle(order)["total"]`.
    if (scope !== undefined && kind === "value" && !isStandInCall(value, scene)) return [];
    const asked = goesThrough([kind === "value" ? value : node], taken.meaning, scene, {
      scope,
      itself: kind === "value" ? "" : name,
    });
    return [{ key: `@${name}`, name, node, from: node.start, scope, replaces: asked }];
  });
}

function isStandInCall(value: SyntaxNode, scene: TestScene): boolean {
  const callee = fieldOf(value, "function");
  return callee !== undefined && standInCall.test(scene.textOf(callee));
}

/** `Handler.handle = ...`, `cart.total = ...` of a cart that the feature made. */
function memberAssigned(node: SyntaxNode, scene: TestScene): readonly Replacement[] {
  const [left, value] = [fieldOf(node, "left"), fieldOf(node, "right")];
  if (left === undefined || value === undefined || !scene.language.is("assignments", node.type)) return [];
  if (!/^(?:attribute|member_expression)$/.test(left.type)) return [];
  const [object, name] = [fieldOf(left, "object"), fieldOf(left, "attribute", "property")];
  if (object === undefined || name === undefined || plain.test(value.type)) return [];
  return of(node, { object: scene.textOf(object), name: scene.textOf(name), given: [value] }, scene);
}

interface Given {
  readonly object: string;
  readonly name: string;
  /** What takes its place. */
  readonly given: readonly SyntaxNode[];
}

function of(node: SyntaxNode, { object, name, given }: Given, scene: TestScene): readonly Replacement[] {
  const scope = scene.scopeOf(node);
  const path = scene.pathOf(object, scope);
  if (path === undefined) return [];
  const isMade = path.endsWith("()") && /^[\w$.]+$/.test(object);
  const key = isMade ? `@${object}.${name}` : `${path}.${name}`;
  const replaces = goesThrough(given, `${path}.${name}`, scene, { scope });
  return [{ key, name, node, from: node.start, scope, replaces }];
}

const setters =
  /(?:^|\.)(?:setattr|patch\.object|patch|spyOn|mock\.method)$|\b(?:sinon|sandbox)\.(?:stub|replace|fake)$/;
const loaders = /\b(?:jest|vi)\.(?:mock|doMock|unstable_mockModule)$|(?:^|\.)mock\.module$/;

/** `patch("...")`, `setattr(...)`, `vi.spyOn(...)` and their like. One that only watches replaces nothing. */
function replacedByCall(node: SyntaxNode, scene: TestScene, modules: FeatureModules): readonly Replacement[] {
  const [callee, list] = [fieldOf(node, "function"), fieldOf(node, "arguments")];
  if (callee === undefined || list === undefined) return [];
  const called = scene.textOf(callee).replace(/\s/g, "");
  const args = list.children.filter(({ named, type }) => named && type !== "comment");
  const [first, second] = args;
  if (first === undefined) return [];
  const isText = (one: SyntaxNode | undefined): one is SyntaxNode => one !== undefined && /string/.test(one.type);
  if (/(?:^|\.)patch\.multiple$/.test(called)) {
    const object = isText(first) ? modules.named(unquoted(scene.textOf(first))) : scene.textOf(first);
    return args.slice(1).flatMap((one) => {
      const [name, value] = [fieldOf(one, "name"), fieldOf(one, "value")];
      if (object === undefined || name === undefined || value === undefined) return [];
      return of(node, { object, name: scene.textOf(name), given: [value] }, scene);
    });
  }
  if (loaders.test(called)) {
    const module = isText(first) ? modules.named(unquoted(scene.textOf(first))) : undefined;
    if (module === undefined) return [];
    const asksReal = /requireActual|importActual|importOriginal|original/i.test(scene.textOf(list));
    const from = called.startsWith("mock") || called.includes(".mock.") ? node.start : -1;
    return [{ key: module, name: module, node, from, scope: undefined, replaces: asksReal ? "perhaps" : "yes" }];
  }
  if (!setters.test(called)) return [];
  if (isText(first)) {
    const path = modules.path(unquoted(scene.textOf(first)));
    if (path === undefined || !path.includes(".")) return [];
    const scope = scene.scopeOf(node);
    const replaces = goesThrough(args.slice(1), path, scene, { scope });
    const name = path.split(".").at(-1) ?? path;
    return [{ key: path, name, node, from: node.start, scope, replaces }];
  }
  if (!isText(second)) return [];
  if (watches(node, called, args, scene)) return [];
  const about = { object: scene.textOf(first), name: unquoted(scene.textOf(second)), given: args.slice(2) };
  return of(node, about, scene);
}

/** Without an implementation the real one is called. */
function watches(node: SyntaxNode, called: string, args: readonly SyntaxNode[], scene: TestScene): boolean {
  if (called.endsWith("mock.method")) return args.length === 2 || args[2]?.type === "object";
  if (!called.endsWith("spyOn")) return false;
  const given = /^(?:mock(?:Return|Implementation|Resolved|Rejected)\w*|and)$/;
  const next = node.parent === undefined ? undefined : fieldOf(node.parent, "property");
  if (next !== undefined) return !given.test(scene.textOf(next));
  const name = node.parent === undefined ? undefined : fieldOf(node.parent, "name", "left");
  return name === undefined || !new RegExp(`\\b${scene.textOf(name)}\\.mock(?:Return|Impl|Res|Rej)`).test(scene.whole);
}

/**
 * Does what takes a member's place ask that very member, as a wrapper does? What it gives back tells: an answer of its own
 * beside a call that nobody looks at is a stand-in, too.
 */
function goesThrough(
  given: readonly SyntaxNode[],
  path: string,
  scene: TestScene,
  { scope, itself = "" }: { readonly scope: SyntaxNode | undefined; readonly itself?: string },
): Replacement["replaces"] {
  const last = path.split(".").at(-1);
  const real = (text: string, inside: SyntaxNode | undefined, without: string): boolean =>
    scene.mentions(text, inside).some(({ root, meaning }) => root !== without && lastOf(meaning) === last);
  const other = (text: string, inside: SyntaxNode | undefined): boolean =>
    scene.mentions(text, inside).some(({ meaning }) => /^\w+\.[a-z_]\w*$/.test(meaning) && lastOf(meaning) !== last);
  let some = false;
  for (const node of given) {
    const isClass = scene.language.is("classes", node.type);
    const inside = scene.isFunction(node) ? node : scope;
    // Within itself a name is no longer the real one; what a class is made from still is.
    if (real(scene.returned(node), inside, isClass ? "" : itself)) return "no";
    const text = scene.textOf((itself === "" ? undefined : fieldOf(node, "body")) ?? node);
    some ||= real(text, inside, itself) || other(text, inside);
  }
  return some ? "perhaps" : "yes";
}

const lastOf = (path: string): string | undefined =>
  path
    .replace(/(?:\(\)|\[\])+/g, "")
    .split(".")
    .at(-1);
