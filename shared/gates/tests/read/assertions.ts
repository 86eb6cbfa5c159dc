// What a test claims: calls and statements that fail it, each as claims that can be compared with other styles.
import type { SyntaxNode } from "../../../ports/syntax.ts";
import type { Shape } from "../call-shape.ts";
import { type Claim, claimsOf, negated } from "../condition.ts";
import { flat, key } from "../flat-text.ts";
import type { CompiledRow } from "./language.ts";
import { type Context, lineOf, type Reading, textOf } from "./reading.ts";

export function readAssertCall(
  reading: Reading,
  node: SyntaxNode,
  shape: Shape,
  row: CompiledRow,
  context: Context,
): void {
  // A message that is looked for (`match=`) is a part of the claim.
  const named = row.kind === "raises" || row.kind === "calledwith" || row.kind === "custom";
  const all = named ? [...shape.args] : shape.args.filter((one) => !/^\w+\s*=(?!=)/.test(one));
  if (/^(?:t|tt|tb|b|s\.T\(\)|suite\.T\(\))$/.test(all[0] ?? "")) all.shift();
  const kept = all.slice(row.drop, row.take === undefined ? undefined : row.drop + row.take);
  const operands = (row.swap ? [...kept.slice(0, 2).toReversed(), ...kept.slice(2)] : kept).map((one) => flat(one));
  const not = row.not !== /\.not\.|\.isNot\.|\.is_not\(/.test(shape.text);
  if (row.condition) {
    keepClaims(reading, node, claimsOf(operands[0] ?? "", not), context, shape);
    return;
  }
  const tolerance = toleranceOf(row, shape);
  const [first = "", second] = operands;
  const settled = row.kind === "eq" && second !== undefined ? claimsOf(`(${first}) == (${second})`)[0] : undefined;
  const kind = settled?.kind ?? row.kind;
  keepClaims(
    reading,
    node,
    [
      {
        kind: not ? negated(kind) : kind,
        operands: settled?.operands ?? operands,
        ...(tolerance === undefined
          ? settled?.tolerance === undefined
            ? {}
            : { tolerance: settled.tolerance }
          : { tolerance }),
      },
    ],
    context,
    shape,
  );
}

export function readAssertStatement(reading: Reading, node: SyntaxNode, context: Context): void {
  const [expression] = node.children.filter(({ named, type }) => named && !reading.language.is("comments", type));
  if (expression === undefined) return;
  keepClaims(reading, node, claimsOf(textOf(reading, expression)), context);
  reading.inside(node, context);
}

export function keepClaims(
  reading: Reading,
  node: SyntaxNode,
  claims: readonly Claim[],
  context: Context,
  shape?: Shape,
): void {
  const line = lineOf(reading, node.start);
  const waiting = reading.language.promises;
  const unwaited =
    shape !== undefined && waiting?.test(shape.text) === true && !isWaitedFor(node)
      ? ({ why: "not awaited", line } as const)
      : undefined;
  const hushed = context.hushed ?? unwaited;
  for (const { kind, operands, either, tolerance } of claims) {
    const keys = operands.map((one) => key(one));
    context.owner.assertions.push({
      kind,
      operands: keys,
      key: `${kind} ${keys.join(" | ")}`,
      line,
      text: flat(textOf(reading, node)),
      either: (either ?? []).map((one) => `${one.kind} ${one.operands.map((text) => key(text)).join(" | ")}`),
      ...(tolerance === undefined || !Number.isFinite(tolerance) ? {} : { tolerance }),
      ...(hushed === undefined ? {} : { hushed }),
    });
  }
}

function isWaitedFor(node: SyntaxNode): boolean {
  let up = node.parent;
  while (up && /^(?:member_expression|call_expression|parenthesized_expression|arguments|array)$/.test(up.type))
    up = up.parent;
  return up !== undefined && /await|return|arrow_function|yield|assign|declarator/.test(up.type);
}

/** How far apart two values may be, as an absolute number. */
function toleranceOf({ tolerance, drop }: CompiledRow, { args, steps }: Shape): number | undefined {
  if (tolerance === undefined) return undefined;
  const last = steps.at(-1)?.args ?? [];
  const named =
    tolerance.name === undefined
      ? undefined
      : args.map((one) => new RegExp(`^(${tolerance.name})\\s*=\\s*(.+)$`).exec(one)).find((one) => one !== null);
  const places = named ? /places|digits/.test(named[1] ?? "") : tolerance.unit === "places";
  const positional = args.filter((one) => !/^\w+\s*=(?!=)/.test(one));
  const given =
    named?.[2] ?? (tolerance.at === undefined ? undefined : (positional[drop + tolerance.at] ?? last[tolerance.at]));
  const value = given === undefined ? undefined : Number(given.replace(/[fFdD]$/, ""));
  if (value === undefined || !Number.isFinite(value)) return given === undefined ? tolerance.default : undefined;
  return places ? 0.5 * 10 ** -value : value;
}
