/** Exact numbers: what the tables say is compared without the noise of floating point. `d` is positive. */
export interface Rational {
  readonly n: bigint;
  readonly d: bigint;
}

export type Rounding = "half-up" | "half-even" | "up" | "down";

export const zero: Rational = { n: 0n, d: 1n };
export const one: Rational = { n: 1n, d: 1n };

/** `12`, `-0.50`; undefined for anything else. */
export function rational(text: string): Rational | undefined {
  const match = /^(-?)(\d+)(?:\.(\d+))?$/.exec(text);
  if (!match) return undefined;
  const [, sign, whole = "0", part = ""] = match;
  const value = BigInt(whole + part);
  return reduce(sign === "-" ? -value : value, 10n ** BigInt(part.length));
}

export function whole(value: number | bigint): Rational {
  return { n: BigInt(value), d: 1n };
}

export const add = (a: Rational, b: Rational): Rational => reduce(a.n * b.d + b.n * a.d, a.d * b.d);
export const subtract = (a: Rational, b: Rational): Rational => reduce(a.n * b.d - b.n * a.d, a.d * b.d);
export const multiply = (a: Rational, b: Rational): Rational => reduce(a.n * b.n, a.d * b.d);
export const negate = (a: Rational): Rational => ({ n: -a.n, d: a.d });

/** undefined for a division by zero. */
export function divide(a: Rational, b: Rational): Rational | undefined {
  if (b.n === 0n) return undefined;
  return b.n < 0n ? reduce(-a.n * b.d, a.d * -b.n) : reduce(a.n * b.d, a.d * b.n);
}

/** The remainder has the sign of the divisor. */
export function modulo(a: Rational, b: Rational): Rational | undefined {
  const quotient = divide(a, b);
  return quotient && subtract(a, multiply(b, floor(quotient)));
}

export function compare(a: Rational, b: Rational): number {
  const difference = a.n * b.d - b.n * a.d;
  return difference < 0n ? -1 : difference > 0n ? 1 : 0;
}

export const isWhole = (a: Rational): boolean => a.d === 1n;

export function floor(a: Rational): Rational {
  const quotient = a.n / a.d;
  return whole(a.n < 0n && a.n % a.d !== 0n ? quotient - 1n : quotient);
}

export function roundTo(a: Rational, places: number, mode: Rounding): Rational {
  const scale = 10n ** BigInt(places);
  const scaled = multiply(a, whole(scale));
  const size = scaled.n < 0n ? -scaled.n : scaled.n;
  const [quotient, rest] = [size / scaled.d, size % scaled.d];
  const half = rest * 2n - scaled.d;
  const goesUp =
    mode === "up"
      ? rest > 0n
      : mode === "down"
        ? false
        : half > 0n || (half === 0n && (mode === "half-up" || quotient % 2n === 1n));
  const rounded = goesUp ? quotient + 1n : quotient;
  return reduce(scaled.n < 0n ? -rounded : rounded, scale);
}

/** Decimal text with at least `places` digits; undefined when the value has no end in decimals. */
export function decimalText(a: Rational, places = 0): string | undefined {
  let digits = 0;
  let { d } = a;
  for (; d % 10n === 0n; d /= 10n) digits += 1;
  for (; d % 2n === 0n; d /= 2n) digits += 1;
  for (; d % 5n === 0n; d /= 5n) digits += 1;
  if (d !== 1n) return undefined;
  const width = Math.max(digits, places);
  const scaled = (a.n * 10n ** BigInt(width)) / a.d;
  const text = (scaled < 0n ? -scaled : scaled).toString().padStart(width + 1, "0");
  const point = text.length - width;
  const trimmed = width === 0 ? text : `${text.slice(0, point)}.${trimZeros(text.slice(point), places)}`;
  return `${scaled < 0n ? "-" : ""}${trimmed.replace(/\.$/, "")}`;
}

function trimZeros(digits: string, keep: number): string {
  let end = digits.length;
  while (end > keep && digits[end - 1] === "0") end -= 1;
  return digits.slice(0, end);
}

function reduce(n: bigint, d: bigint): Rational {
  let [a, b] = [n < 0n ? -n : n, d];
  while (b !== 0n) [a, b] = [b, a % b];
  return a === 0n ? zero : { n: n / a, d: d / a };
}
