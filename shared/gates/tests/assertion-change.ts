import type { Finding } from "../../model/finding.ts";
import { isTrivial, selfCompared } from "./cannot-fail.ts";
import { isLiteral, literalsOf } from "./flat-text.ts";
import type { OutlineAssertion, OutlineTest } from "./outline.ts";
import { turned, weaker } from "./strength.ts";
import { disabled, valueChanged, weakened } from "./test-findings.ts";

export function sameSubject(old: OutlineAssertion, one: OutlineAssertion): boolean {
  const subject = old.operands[0] ?? "";
  if (subject === "" || isLiteral(subject)) return false;
  return (
    one.operands[0] === subject ||
    (one.operands.length > 0 && one.operands.some((other) => other === subject || inside(subject, other)))
  );
}

function inside(part: string, whole: string): boolean {
  return part.length > 3 && whole.length > part.length && whole.includes(part);
}

export function sharesOperand(old: OutlineAssertion, one: OutlineAssertion): boolean {
  return old.operands.some(
    (operand) =>
      operand !== "" && !/^(?:0|1|""|true|false|True|False)$/.test(operand) && one.operands.includes(operand),
  );
}

/** The same call, with other arguments. */
export function sameCall(old: OutlineAssertion, one: OutlineAssertion): boolean {
  const head = (text: string | undefined): string => /^[\w.:$]+(?=\()/.exec(text ?? "")?.[0] ?? "";
  const call = head(old.operands[0]);
  return call !== "" && call === head(one.operands[0]) && one.operands.length === old.operands.length;
}

/** A call of the project's own: what it checks is not known here. */
export const isOwnCheck = ({ kind, either }: OutlineAssertion): boolean => kind === "custom" && either.length === 0;

/** Of these a test has few, and another one of the kind stands for the one that is gone. */
export function sameKind(old: OutlineAssertion, one: OutlineAssertion): boolean {
  return old.kind === one.kind && (one.kind === "raises" || one.kind === "snapshot" || one.kind === "almost");
}

/** The kind, the size or the truth of a value instead of the value. */
function onlyMeasured(old: OutlineAssertion, now: OutlineAssertion): boolean {
  const [subject = ""] = old.operands;
  const [measured = ""] = now.operands;
  if (subject === "" || subject === measured || !measured.includes(subject)) return false;
  const before = /^(?:typeof\b|type\(|len\(|Object\.keys\(|Boolean\(|bool\(|!!|Array\.isArray\(|reflect\.TypeOf\()/;
  const after = /(?:\.(?:length|size|len\(\)|size\(\)|count\(\)|getClass\(\)|constructor(?:\.name)?|__class__))$/;
  return (before.test(measured) && !before.test(subject)) || (after.test(measured) && !after.test(subject));
}

/** The same claim: does it still count? */
export function quieter(
  path: string,
  old: OutlineAssertion,
  now: OutlineAssertion,
  before: Partial<OutlineTest>,
  test: Partial<OutlineTest>,
): Finding[] {
  if (selfCompared(now, test) && !selfCompared(old, before))
    return [weakened(path, now.line, "a value is compared with itself", now.text)];
  if (old.hushed !== undefined || now.hushed === undefined) return [];
  const { why } = now.hushed;
  // The end of a test is told once, where it is.
  if (why === "ended")
    return test.endedLine === undefined ? [weakened(path, now.line, "an assertion is never reached", now.text)] : [];
  const reasons = {
    swallowed: "the failure of an assertion is swallowed",
    conditional: "an assertion runs only under a condition",
    "not called": "an assertion stands in a function that nobody calls",
    "not awaited": "nobody waits for an assertion",
    never: "an assertion is never reached",
  };
  const told = weakened(path, now.line, reasons[why], now.text);
  return why === "never" ? [told, disabled(path, now.hushed.line, "a part of a test never runs", now.text)] : [told];
}

/** Two claims about one thing: which says more? */
export function versus(
  path: string,
  old: OutlineAssertion,
  now: OutlineAssertion,
  before: Partial<OutlineTest>,
  test: Partial<OutlineTest>,
): Finding[] {
  const { line, text } = now;
  if (isTrivial(now, test) && !isTrivial(old, before))
    return [weakened(path, line, "an assertion gave way to one that cannot fail", text)];
  if (now.either.length > 0 && old.either.length === 0)
    return [weakened(path, line, "an assertion also holds for something else now", text)];
  if (turned(old.kind, now.kind)) return [valueChanged(path, line, "an assertion was turned round", text)];
  if (onlyMeasured(old, now)) return [weakened(path, line, "a value is only measured now", `${old.text} -> ${text}`)];
  if (weaker(now.kind, old.kind))
    return [weakened(path, line, "an assertion says less than it did", `${old.text} -> ${text}`)];
  if (looser(old, now)) return [weakened(path, line, "an assertion takes more than it did", `${old.text} -> ${text}`)];
  const quiet = quieter(path, old, now, before, test);
  if (quiet.length > 0) return quiet;
  const [, expected = ""] = old.operands;
  const [, value = ""] = now.operands;
  if (
    old.operands[0] === now.operands[0] &&
    expected !== value &&
    old.kind === now.kind &&
    (literalsOf(expected).length > 0 || literalsOf(value).length > 0)
  )
    return [valueChanged(path, line, "another value is expected", `${expected} -> ${value}`)];
  return [];
}

/** A wider tolerance, a lower bound, a wider exception, a message nobody looks at. */
function looser(old: OutlineAssertion, now: OutlineAssertion): boolean {
  if (old.kind === "almost" && now.kind === "almost") return (now.tolerance ?? 1e-6) > (old.tolerance ?? 1e-6) * 2.5;
  if (old.kind === "eq" && now.kind === "almost") return (now.tolerance ?? 1e-6) > 1e-5;
  if (old.kind !== now.kind) return false;
  const [a, b] = [Number(old.operands[1]), Number(now.operands[1])];
  if (Number.isFinite(a) && Number.isFinite(b)) {
    if (now.kind === "greater") return b < a;
    if (now.kind === "less") return b > a;
  }
  if (now.kind === "raises") {
    const wide =
      /^(?:Exception|BaseException|Error|Throwable|RuntimeException|Throwable\.class|Exception\.class|RuntimeException\.class|Object|_)$/;
    const [before, after] = [old.operands.filter((one) => one !== ""), now.operands.filter((one) => one !== "")];
    if (after.length < before.length) return true;
    return after.some(
      (one, at) =>
        wide.test(one) &&
        before[at] !== one &&
        !wide.test(before[at] ?? "") &&
        !/^(?:\(|function|async)/.test(before[at] ?? ""),
    );
  }
  if (now.kind === "matches" || now.kind === "contains") {
    const pattern = now.operands[1] ?? "";
    return /^(?:r?"(?:\.\*|\.\+|)"|\/\.?[*+]?\/|""|expect\.anything\(\))$/.test(pattern) && pattern !== old.operands[1];
  }
  if (now.kind === "calledwith" || now.kind === "eq" || now.kind === "partial") {
    const any = /expect\.anything\(\)|\bmock\.ANY\b|\bANY\b|Mockito\.any\(|expect\.any\(|\bany\(\)/;
    return any.test(now.key) && !any.test(old.key);
  }
  return false;
}
