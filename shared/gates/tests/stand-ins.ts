import type { SyntaxNode } from "../../ports/syntax.ts";
import type { Finding } from "../../model/finding.ts";
import type { SliceFacts } from "../../ports/gate.ts";
import { finding } from "../gate-finding.ts";
import { FeatureModules } from "./feature-imports.ts";
import { isLiteral } from "./flat-text.ts";
import type { Outline, OutlineAssertion } from "./outline.ts";
import type { ReadLanguage } from "./read/language.ts";
import { type Owner, type Reach, reachOf } from "./replacement-reach.ts";
import { type Replacement, replacementsIn } from "./replacements.ts";
import { type Called, TestScene } from "./test-scene.ts";

/**
 * Tests of a feature that replace the feature and assert about what they put there: nothing is proven then. It fails where
 * an assertion asks the stand-in and nothing of the feature; where the real code is asked, too, a reviewer judges. A
 * stand-in for what the feature calls (a clock, a cache, another module) is what stand-ins are for.
 */
export function standIns(
  tests: Outline,
  tree: SyntaxNode,
  language: ReadLanguage,
  slice: SliceFacts,
): readonly Finding[] {
  const modules = new FeatureModules(slice);
  const scene = new TestScene(tree, tests.text, language, modules);
  if (scene.bindings.length === 0) return [];
  const all = replacementsIn(scene, modules);
  if (all.every(({ replaces }) => replaces === "no")) return [];
  const replaced = all.map((one): Placed => ({ ...one, reach: reachOf(one, all, scene, tests) }));
  const worst = new Map<Placed, Finding["severity"]>();
  for (const owner of [...tests.tests, ...tests.helpers])
    for (const one of owner.assertions) {
      for (const [placed, severity] of judged(one, owner, replaced, scene))
        if (worst.get(placed) !== "FAIL") worst.set(placed, severity);
    }
  return replaced.flatMap((one) => {
    const severity = worst.get(one);
    if (severity === undefined) return [];
    const line = scene.lineOf(one.node.start);
    return [
      finding("mock_of_sut", severity, `${one.name} of the feature is replaced in its own tests`, {
        path: tests.path,
        line,
        evidence: (scene.lines[line - 1] ?? "").trim(),
        remedy: "Assert what the real code does; replace only what it calls",
      }),
    ];
  });
}

type Placed = Replacement & { readonly reach: Reach };

/** Which stand-ins an assertion asks, and whether it asks nothing else. */
function judged(
  assertion: OutlineAssertion,
  owner: Owner,
  replaced: readonly Placed[],
  scene: TestScene,
): readonly (readonly [Placed, Finding["severity"]])[] {
  const { kind, operands, line } = assertion;
  if (kind === "called" || kind === "calledwith") return [];
  const reaching = replaced.filter(({ reach }) => reach(owner, line));
  // Where the real code was put in its place again, it is the real code.
  const here = reaching.filter(
    (one) =>
      one.replaces !== "no" &&
      !reaching.some(({ replaces, key, from }) => replaces === "no" && key === one.key && from > one.from),
  );
  if (here.length === 0) return [];
  const scope = scene.scopeAt(line);
  const asked = operands.map((operand) => sorted(scene.called(operand, scope), here, scene));
  const hits = [...new Set(asked.flatMap(({ standIn }) => standIn))];
  const [first] = asked;
  // What is compared stands first; a stand-in that only says what is expected may be a clock.
  const isSubject = kind === "custom" || (first?.standIn.length ?? 0) > 0 || isLiteral(operands[0] ?? "");
  const alone = isSubject && asked.every(({ real }) => !real);
  const itself = new Set(asked.flatMap(({ called }) => called));
  return hits.map((one) => [one, alone && one.replaces === "yes" && itself.has(one) ? "FAIL" : "WARN"] as const);
}

interface Asked {
  readonly standIn: readonly Placed[];
  /** Those of them that are called themselves: what a fake took down (`Handler.log.lines()`) may be what the code did. */
  readonly called: readonly Placed[];
  readonly real: boolean;
}

function sorted(called: readonly Called[], here: readonly Placed[], scene: TestScene): Asked {
  const standIn: Placed[] = [];
  const itself: Placed[] = [];
  let real = false;
  for (const one of called) {
    const hits = here.filter((placed) => asks(one, placed, scene));
    standIn.push(...hits);
    itself.push(...hits.filter((placed) => isCalled(one, placed)));
    // Whatever a stand-in is given, its answer is its own.
    if (hits.length > 0) continue;
    real ||= isWork(one.path);
    const inner = sorted(one.args, here, scene);
    standIn.push(...inner.standIn);
    itself.push(...inner.called);
    real ||= inner.real;
  }
  return { standIn, called: itself, real };
}

/** A function, a method, a class, or anything of a module that was replaced as a whole. */
function isCalled({ written, path }: Called, { key, name }: Placed): boolean {
  if (/^[A-Z]/.test(name) || !/[.@]/.test(key)) return true;
  const [whole, start] = key.startsWith("@") ? [written, key.slice(1)] : [path ?? "", key];
  return bare(whole) === bare(start) || new RegExp(`(?:^|\\.)${name.replaceAll("$", "\\$")}\\(\\)`).test(whole);
}

/** A function or a method of the feature; making an object of it proves nothing. */
function isWork(path: string | undefined): boolean {
  return path !== undefined && /^[a-z_]/.test(bare(path).split(".").slice(1).at(-1) ?? "X");
}

function asks(called: Called, { key, scope, from }: Placed, scene: TestScene): boolean {
  if (key.startsWith("@")) return begins(called.written, key.slice(1));
  const { path, bound } = called;
  if (path === undefined || !begins(path, key)) return false;
  if (bound === undefined || bare(key).length > bare(bound.meaning).length) return true;
  // A name that was given its meaning before still stands for the real code.
  if (bound.scope === undefined && scope !== undefined) return false;
  return !scene.around(scope).includes(bound.scope) || bound.at > from;
}

const bare = (path: string): string => path.replace(/\(\)|\[\]|\.prototype(?=\.|$)/g, "");

function begins(path: string, key: string): boolean {
  const [whole, start] = [bare(path), bare(key)];
  return whole === start || whole.startsWith(`${start}.`);
}
