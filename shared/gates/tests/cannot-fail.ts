import type { AssertionKind } from "../../model/test-language.ts";
import { isLiteral } from "./flat-text.ts";
import type { OutlineAssertion, OutlineTest } from "./outline.ts";

/** True for what no code can make fail. */
export function isTrivial(one: OutlineAssertion, test: Partial<OutlineTest>): boolean {
  const [first = "", second] = one.operands;
  if (one.either.some((key) => trivialKey(key))) return true;
  if (selfCompared(one, test)) return true;
  return cannotFail[one.kind]?.(first, second, one.text) === true;
}

/** By kind, the operands with which a claim holds whatever the code does; the other kinds always ask something. */
const cannotFail: Readonly<
  Partial<Record<AssertionKind, (first: string, second: string | undefined, text: string) => boolean>>
> = {
  truthy: alwaysTrue,
  true: alwaysTrue,
  notnone: alwaysTrue,
  falsy: alwaysFalse,
  false: alwaysFalse,
  none: (first) => /^(?:None|null|nil|undefined)$/.test(first),
  eq: (first, second) => second !== undefined && (first === second || (isLiteral(first) && isLiteral(second))),
  ne: (first, second) => second !== undefined && isLiteral(first) && isLiteral(second),
  greater: (first, second = "x", text) =>
    (/^(?:len\(|.*\.(?:length|len\(\)|size\(\)|size)$)/.test(first) &&
      /^(?:0|-\d+)$/.test(second) &&
      text.includes(">=")) ||
    (isLiteral(first) && isLiteral(second)),
  type: (_, second = "") => /^(?:object|Object|any|unknown|Object\.class)$/.test(second),
  contains: (_, second = "x") => takesAll(second),
  matches: (_, second = "x") => takesAll(second),
};

function alwaysFalse(text: string): boolean {
  return /^(?:False|false|0|None|null|nil|""|!true)$/.test(text);
}

function takesAll(pattern: string): boolean {
  return /^(?:""|r?"\.\*"|\/\.\*\/)$/.test(pattern);
}

function trivialKey(key: string): boolean {
  const at = key.indexOf(" ");
  return (
    /^(?:truthy|true|falsy)$/.test(key.slice(0, at)) &&
    (alwaysTrue(key.slice(at + 1)) || /^falsy (?:False|false|0)$/.test(key))
  );
}

function alwaysTrue(text: string): boolean {
  return (
    (/^(?:True|true|1|!0|!false|!!1|not False|any\(\)|\[\w|\{\w|Boolean\(1\))/.test(text) &&
      !/^1\w|^True\w|^true\w|^1[.=<>]/.test(text) &&
      !/^\[\w[\s\S]*\][.[]/.test(text)) ||
    /^"(?:[^"\\]|\\.)+"$/.test(text) ||
    (/^\(.+,.+\)$/.test(text) && !/^\([^()]*\)\s*[.=[]/.test(text))
  );
}

/** `want = f(x)` and then `f(x) == want`: one side is the other under a name. */
export function selfCompared({ kind, operands }: OutlineAssertion, { assigned = [] }: Partial<OutlineTest>): boolean {
  if (!["eq", "almost", "partial"].includes(kind)) return false;
  const [first = "", second = ""] = operands;
  if (first === second && first !== "") return true;
  const means = (name: string, value: string): boolean => {
    const last = assigned.findLast((one) => one.name === name);
    return last !== undefined && last.value === value && !isLiteral(value);
  };
  return means(first, second) || means(second, first);
}
