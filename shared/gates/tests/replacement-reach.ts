import type { SyntaxNode } from "../../ports/syntax.ts";
import { fieldOf } from "./call-shape.ts";
import type { Outline, OutlineTest } from "./outline.ts";
import type { Replacement } from "./replacements.ts";
import type { TestScene } from "./test-scene.ts";

/** A test, or a helper of tests: only a test knows where it ends. */
export type Owner = Pick<OutlineTest, "name" | "line" | "assertions"> & Partial<OutlineTest>;
/** Whether what was replaced is still replaced at an assertion. */
export type Reach = (owner: Owner, line: number) => boolean;

const everyTest = /^(?:set_?[uU]p\w*|asyncSetUp|pytest_\w+)$/;
const beforeTests = /^(?:beforeEach|beforeAll|before|setup|suiteSetup)$/;
const undone = /\.mockRestore\(|\brestoreAll(?:Mocks)?\(|\bmock\.reset\(|\bsandbox\.restore\(|\bmonkeypatch\.undo\(/;

/** `all` tells what else is replaced: the real code put back under the same name ends it. */
export function reachOf(
  one: Replacement,
  all: readonly Replacement[],
  scene: TestScene,
  { tests }: Pick<Outline, "tests">,
): Reach {
  const { scope, node } = one;
  const begin = scene.lineOf(node.start);
  if (scope === undefined) return () => true;
  const local = scene.definitions.find((definition) => definition.node === node)?.scope;
  if (local !== undefined) return (_, line) => line > begin && scene.around(scene.scopeAt(line)).includes(local);
  const [first, last] = linesOf(scope, scene);
  const inTest = tests.find(({ line, endLine }) => line <= first && last <= endLine);
  if (inTest !== undefined) {
    const until = endOf(one, all, scene, inTest.endLine);
    // A decorator stands above its test.
    const from = begin < first ? 0 : begin;
    return (owner, line) =>
      owner.endLine === undefined
        ? owner.name !== "" && inTest.calls.has(owner.name)
        : owner.line === inTest.line && from <= line && line <= until;
  }
  const { lines, names } = usersOf(scope, scene);
  const [from, to] = lines;
  const known = new Map<number, boolean>();
  const asks = (owner: Owner): boolean => {
    const before = known.get(owner.line);
    if (before !== undefined) return before;
    const text = scene.lines.slice(Math.max(0, owner.line - 4), owner.endLine).join("\n");
    const does = names === undefined || names.some((name) => speaksOf(text, name));
    known.set(owner.line, does);
    return does;
  };
  return (owner, line) => {
    if (first <= line && line <= last) return line > begin;
    if (line < from || line > to) return false;
    // A helper has no parameters that tell: the tests that call it do.
    if (owner.endLine !== undefined || names === undefined) return asks(owner);
    return tests.some((test) => test.calls.has(owner.name) && asks(test));
  };
}

function linesOf({ start, end }: SyntaxNode, scene: TestScene): readonly [number, number] {
  return [scene.lineOf(start), scene.lineOf(end)];
}

function speaksOf(text: string, name: string): boolean {
  return new RegExp(`(?<![\\w$])${name.replaceAll("$", "\\$")}(?![\\w$])`).test(text);
}

/** Until the `with` ends that replaced it, or somebody puts it back. */
function endOf({ node, key, scope }: Replacement, all: readonly Replacement[], scene: TestScene, last: number): number {
  for (let up = node.parent; up && !scene.isFunction(up); up = up.parent) {
    if (up.type !== "with_statement") continue;
    const body = fieldOf(up, "body");
    const head = scene.whole.slice(up.start, body?.start ?? up.end);
    if (node.end <= (body?.start ?? 0) || /\.context\(\)/.test(head)) return scene.lineOf(up.end);
  }
  const back = all.find(
    (other) => other.key === key && other.scope === scope && other.replaces === "no" && other.node.start > node.start,
  );
  if (back !== undefined) return scene.lineOf(back.node.start);
  const from = scene.lineOf(node.end);
  const at = scene.whole
    .split("\n")
    .slice(from, last)
    .findIndex((text) => undone.test(text));
  return at === -1 ? last : from + at;
}

interface Users {
  readonly lines: readonly [number, number];
  /** Names by which tests ask for it; undefined where it holds for all of these lines. */
  readonly names?: readonly string[];
}

/** Which tests see what a function replaces: a fixture's, a setup's, a helper's, a whole group's. */
function usersOf(scope: SyntaxNode, scene: TestScene): Users {
  if (!scene.isFunction(scope)) return { lines: linesOf(scope, scene) };
  const lines = groupOf(scope, scene);
  const callee = scope.parent?.parent === undefined ? undefined : fieldOf(scope.parent.parent, "function");
  if (scope.parent?.type === "arguments" && callee !== undefined) {
    const called = scene.textOf(callee);
    if (scene.language.suite.call?.test(`${called}()`) === true) return { lines: linesOf(scope, scene) };
    return beforeTests.test(called) ? { lines } : { lines, names: [] };
  }
  const method = fieldOf(scope, "name");
  const name =
    scene.definitions.find(({ node, value }) => node === scope || value === scope)?.name ??
    (method === undefined ? undefined : scene.textOf(method));
  if (name === undefined || isForAll(name, scope, scene)) return { lines };
  const names = new Set([name]);
  for (let size = 0; size < names.size;) {
    size = names.size;
    for (const { kind, node, name: other } of scene.definitions) {
      if (kind !== "function" || names.has(other) || ![...names].some((own) => speaksOf(scene.textOf(node), own)))
        continue;
      if (isForAll(other, node, scene)) return { lines };
      names.add(other);
    }
  }
  return { lines, names: [...names] };
}

function isForAll(name: string, node: SyntaxNode, scene: TestScene): boolean {
  const marked = node.parent?.type === "decorated_definition" ? scene.textOf(node.parent) : "";
  return everyTest.test(name) || /autouse\s*=\s*True/.test(marked);
}

/** The class around a function, or the suite that holds it; else the whole file. */
function groupOf(scope: SyntaxNode, scene: TestScene): readonly [number, number] {
  for (let up = scope.parent; up; up = up.parent)
    if (scene.isFunction(up) || scene.language.is("classes", up.type)) return linesOf(up, scene);
  return [0, Number.POSITIVE_INFINITY];
}
