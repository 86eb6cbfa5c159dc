import { deepEqual } from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { errorTable } from "../shared/model/error-table.ts";

const shared = join(process.cwd(), "shared");
const sources = readdirSync(shared, { recursive: true, encoding: "utf8" })
  .map((name) => name.replaceAll("\\", "/"))
  .filter((name) => name.endsWith(".ts") && name !== "model/error.ts")
  .map((name) => readFileSync(join(shared, name), "utf8"));

/**
 * Where a code is said: `new OrchError("a.b"`, also as what is left of `??` or `?:`; `code: "a.b"` of a decision or an
 * answer; and as an argument of its own (`sendError(response, 422, "a.b"`). In a list, a comparison or `isOrchError` it is
 * only asked for.
 */
function saidIn(text: string): ReadonlySet<string> {
  const code = String.raw`"([a-z]+(?:-[a-z]+)*\.[a-z-]+)"`;
  const choice = String.raw`(?:[\w.?]+(?: [!=]== [\w."-]+)? (?:\?\?|\?|:) )*`;
  const places = [
    new RegExp(String.raw`\bOrchError\(\s*(?:${choice}${code}(?: : ${code})?)`, "g"),
    new RegExp(String.raw`\bcode: ${choice}${code}(?: : ${code})?`, "g"),
    new RegExp(String.raw`\b(?!isOrchError\b)\w+\([\w.]+, (?:[\w.]+, )*${code}`, "g"),
  ];
  return new Set(
    places.flatMap((place) =>
      [...text.matchAll(place)].flatMap(([, ...codes]) => codes.filter((one) => one !== undefined)),
    ),
  );
}

const said = new Set(sources.flatMap((text) => [...saidIn(text)]));
const unused = (codes: readonly string[]): string[] => codes.filter((code) => !said.has(code));

describe("error codes", () => {
  it("are all said somewhere: a row that nothing leads to tells a person of a case that cannot happen", () => {
    deepEqual(unused(Object.keys(errorTable)), []);
  });

  it("would be noticed", () => {
    deepEqual(unused(["git.no-such-code"]), ["git.no-such-code"]);
    const asks = [
      'if (isOrchError(error, "a.b") || code === "c.d") return;',
      'const from: ReadonlySet<string> = new Set(["e.f", "g.h"]);',
      'const of = { refusals: ["i.j"] };',
      'if (list.has("k.l")) return ["m.n"];',
    ];
    deepEqual(
      asks.flatMap((text) => [...saidIn(text)]),
      [],
    );
    const says = [
      'throw new OrchError("a.b", "x")',
      'new OrchError(\n      "c.d",\n',
      'new OrchError(code ?? "e.f", "x")',
      'new OrchError(gone ? "g.h" : "i.j", "x")',
      'return { kind: "needs-lead", code: "k.l-m" }',
      'error: { code: full ? "n.o" : "p.q" }',
      'sendError(response, 422, "r.s", why)',
    ];
    deepEqual(
      says.flatMap((text) => [...saidIn(text)]),
      ["a.b", "c.d", "e.f", "g.h", "i.j", "k.l-m", "n.o", "p.q", "r.s"],
    );
  });
});
