import { createPythonCompile, type PythonCompileDeps } from "../adapters/python-compile.ts";
import { createTypeStrip } from "../adapters/type-strip.ts";
import { type AbsPath, extName } from "../base/paths.ts";
import type { LoadedPack } from "../features/packs.ts";
import type { Pack } from "../model/pack.ts";
import type { ExactSyntax, ExactSyntaxResult, SyntaxAnswer } from "../ports/syntax.ts";

/** The compilers that packs may name. */
const compilers = {
  "python-compile": createPythonCompile,
  "node-strip-types": createTypeStrip,
} as const satisfies Record<NonNullable<Pack["syntaxCheck"]>, (deps: PythonCompileDeps) => ExactSyntax>;

export interface ExactOfPacks {
  /** Of every language that has a compiler. */
  readonly extensions: readonly string[];
  readonly syntax: ExactSyntax;
}

/** The compilers of these languages as one: each file goes to its own. */
export function exactSyntaxOf(packs: readonly LoadedPack[], deps: PythonCompileDeps): ExactOfPacks {
  const own = packs.flatMap(({ pack }) =>
    pack.syntaxCheck === undefined
      ? []
      : [{ title: pack.title, extensions: pack.extensions, syntax: compilers[pack.syntaxCheck](deps) }],
  );
  return {
    extensions: own.flatMap(({ extensions }) => extensions),
    syntax: {
      async check(files, signal) {
        const asked = own
          .map((one) => ({ ...one, files: files.filter((file) => one.extensions.includes(extName(file))) }))
          .filter((one) => one.files.length > 0);
        const results = await Promise.all(
          asked.map(async ({ title, syntax, files: some }) => ({ title, result: await syntax.check(some, signal) })),
        );
        return joined(results);
      },
    },
  };
}

/** Nothing is verified only when no compiler answered; else the languages without one are named beside the answers. */
function joined(results: readonly { readonly title: string; readonly result: ExactSyntaxResult }[]): ExactSyntaxResult {
  const answers = new Map<AbsPath, SyntaxAnswer>();
  const by: string[] = [];
  const gaps: string[] = [];
  for (const { title, result } of results) {
    if (result.kind === "not-verified") gaps.push(`${title}: ${result.why}`);
    else {
      by.push(result.by);
      for (const [file, answer] of result.answers) answers.set(file, answer);
    }
  }
  if (gaps.length > 0 && by.length === 0) return { kind: "not-verified", why: gaps.join("; ") };
  return { kind: "checked", by: by.join(", "), answers, ...(gaps.length === 0 ? {} : { gaps }) };
}
