import type { AssertionKind } from "../../model/test-language.ts";
import { bare, flat, splitTop } from "./flat-text.ts";

/** What an expression claims: `operands` are what it compares, the actual value first. */
export interface Claim {
  readonly kind: AssertionKind;
  readonly operands: readonly string[];
  /** Each of these alone would make it true. */
  readonly either?: readonly Claim[];
  readonly tolerance?: number;
}

const opposite: Readonly<Partial<Record<AssertionKind, AssertionKind>>> = {
  eq: "ne",
  ne: "eq",
  none: "notnone",
  notnone: "none",
  true: "falsy",
  false: "truthy",
  truthy: "falsy",
  falsy: "truthy",
  contains: "notcontains",
  notcontains: "contains",
  raises: "notraises",
  notraises: "raises",
  greater: "less",
  less: "greater",
};

export function negated(kind: AssertionKind): AssertionKind {
  return opposite[kind] ?? "custom";
}

/** The claims an expression makes: all of them hold, or it fails. */
export function claimsOf(expression: string, not = false): Claim[] {
  const text = bare(flat(expression));
  // `assert (a, b)`: a pair of values is always true.
  if (expression.trim().startsWith("(") && splitTop(text, /,/).length > 1)
    return [{ kind: not ? "falsy" : "truthy", operands: [`(${text})`] }];
  const ors = / or |\|\|/.test(text) ? splitTop(text, / or |\s*\|\|\s*/) : [];
  const ands = ors.length <= 1 && / and |&&/.test(text) ? splitTop(text, / and |\s*&&\s*/) : [];
  if (ors.length > 1)
    return not ? ors.flatMap((one) => claimsOf(one, true)) : [eitherOf(ors.flatMap((one) => claimsOf(one)))];
  if (ands.length > 1)
    return not ? [eitherOf(ands.flatMap((one) => claimsOf(one, true)))] : ands.flatMap((one) => claimsOf(one));
  const prefix = /^(?:not |!(?!=))\s*/.exec(text);
  if (prefix) return claimsOf(text.slice(prefix[0].length), !not);
  return [comparison(text, not)];
}

function eitherOf(either: readonly Claim[]): Claim {
  return { kind: "custom", operands: either.flatMap(({ operands }) => operands), either };
}

const none = /^(?:None|nil|null|undefined|std::nullopt)$/;
const yes = /^(?:True|true)$/;
const no = /^(?:False|false)$/;

const operators: readonly (readonly [RegExp, AssertionKind, boolean])[] = [
  [/ is not /, "ne", false],
  [/ not in /, "notcontains", true],
  [/ is /, "eq", false],
  [/ in /, "contains", true],
  [/ instanceof /, "type", false],
  [/\s*(?:!==|!=)\s*/, "ne", false],
  [/\s*(?:===|==)\s*/, "eq", false],
  [/\s*>=\s*| > /, "greater", false],
  [/\s*<=\s*| < /, "less", false],
];

function comparison(text: string, not: boolean): Claim {
  for (const [operator, kind, swap] of operators) {
    if (!operator.test(text)) continue;
    const parts = splitTop(text, operator).map((one) => bare(one));
    if (parts.length < 2) continue;
    const [first = "", second = ""] = swap ? parts.toReversed() : parts;
    return settled(kind, [first, second], not);
  }
  return called(text, not);
}

/** A call that is a comparison by itself, else the truth of a value. */
function called(text: string, not: boolean): Claim {
  const call = /^([\w.:]+)\(([\s\S]*)\)$/.exec(text);
  const name = call?.[1] ?? "";
  const args = splitTop(call?.[2] ?? "", /,\s*/).map((one) => one.trim());
  const [first = "", second = ""] = args;
  if (
    /^(?:reflect\.DeepEqual|bytes\.Equal|slices\.Equal|maps\.Equal|cmp\.Equal|Objects\.equals|Arrays\.equals|isDeepStrictEqual|Object\.is)$/.test(
      name,
    )
  )
    return settled("eq", [first, second], not);
  if (/^(?:isinstance|issubclass|callable|hasattr)$/.test(name))
    return { kind: not ? "custom" : "type", operands: args };
  if (/^(?:math\.isclose|strings\.Contains|slices\.Contains|bytes\.Contains)$/.test(name))
    return name === "math.isclose"
      ? settled("almost", [first, second], not)
      : settled("contains", [first, second], not);
  const method =
    /^([\s\S]+)\.(is_none|is_some|is_ok|is_err|is_empty|isEmpty|isPresent|equals|contains|includes|starts_with|ends_with|startsWith|endsWith|startswith|endswith)\(([\s\S]*)\)$/.exec(
      text,
    );
  if (method) {
    const [, subject = "", verb = "", argument = ""] = method;
    if (verb === "is_none") return settled("none", [subject], not);
    if (verb === "is_some" || verb === "isPresent") return settled("notnone", [subject], not);
    if (verb === "is_err") return settled("raises", [subject], not);
    if (verb === "is_ok") return settled("notraises", [subject], not);
    if (verb === "equals") return settled("eq", [subject, argument], not);
    if (argument !== "") return settled("contains", [subject, argument], not);
  }
  return { kind: not ? "falsy" : "truthy", operands: [text] };
}

function settled(kind: AssertionKind, operands: readonly string[], not: boolean): Claim {
  const is = not ? negated(kind) : kind;
  const [first = "", second] = operands;
  if (second === undefined) return { kind: is, operands };
  const approx = /^(?:pytest\.)?approx\(([\s\S]*)\)$/.exec(second) ?? /^(?:pytest\.)?approx\(([\s\S]*)\)$/.exec(first);
  if (approx && is === "eq") {
    const [value = "", ...rest] = splitTop(approx[1] ?? "", /,\s*/);
    const subject = second.includes("approx(") ? first : second;
    const given = rest.map((one) => /^(?:abs|rel)\s*=\s*(.+)$/.exec(one)?.[1]).find((one) => one !== undefined);
    return { kind: "almost", operands: [subject, value], tolerance: given === undefined ? 1e-6 : Number(given) };
  }
  // `0.1 > abs(a - b)` says the same.
  if (is === "greater" && apartIn(second) !== undefined) return settled("less", [second, first], false);
  const apart = is === "less" && Number.isFinite(Number(second)) ? apartIn(first) : undefined;
  if (apart !== undefined) return { kind: "almost", operands: apart, tolerance: Number(second) };
  if (none.test(second) && (is === "eq" || is === "ne"))
    return { kind: is === "eq" ? "none" : "notnone", operands: [first] };
  if (yes.test(second) && (is === "eq" || is === "ne"))
    return { kind: is === "eq" ? "true" : "falsy", operands: [first] };
  if (no.test(second) && (is === "eq" || is === "ne"))
    return { kind: is === "eq" ? "false" : "truthy", operands: [first] };
  if (/^len\(|\.(?:len\(\)|length|size\(\))$/.test(first) && is === "eq")
    return { kind: "length", operands: [first, second] };
  return { kind: is, operands: [first, second] };
}

/** What an expression measures the distance of: both values of `abs(a - b)`. */
export function apartIn(text: string): readonly string[] | undefined {
  const apart = /^(?:\w+\.)?(?:f?abs|Abs)\(([\s\S]+)\)$/.exec(text) ?? /^\(?([\s\S]+)\)?\.abs\(\)$/.exec(text);
  // A minus between operands, not that of `1e-9` or of `f(-1)`; an assertion's operands have no blanks.
  const sides = apart ? splitTop(bare(apart[1] ?? ""), / - |(?<=[\w)\]"])(?<!\d[eE])-/) : [];
  return sides.length === 2 ? sides.map((one) => bare(one)) : undefined;
}
