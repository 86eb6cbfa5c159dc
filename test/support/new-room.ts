import { newFeature } from "../../shared/app/handlers/new.ts";
import { projectPersonas } from "../../shared/app/project-personas.ts";
import type { SpecContext } from "../../shared/app/spec-draft.ts";
import { absPath } from "../../shared/base/paths.ts";
import type { Notice } from "../../shared/ports/editor.ts";
import { args, type Bench, makeBench } from "./bench.ts";
import { ScriptedModel, type ScriptedSaid } from "./scripted-model.ts";
import { sourceRoot } from "./source-root.ts";

/** `new` over a real repository with a model that says what a test lists: the spec first, then what spec QA answers. */
const table = (head: string, ...rows: string[]): string =>
  [`| ${head} |`, `|${head.replace(/[^|]+/g, "---")}|`, ...rows.map((row) => `| ${row} |`)].join("\n");
export const spec = `# Invoice

## Overview

Totals an invoice.

## Inputs

${table("name | type | rule", "lines | list of numbers | any")}

## Outputs

${table("name | type | rule", "total | number | the sum")}

## Rules

1. The total is the sum of the lines.

## Errors

${table("case | when | what the caller gets", "Empty | there are no lines | EmptyError")}

## Examples

${table("input | expected", "[1, 2] | 3")}

## Dependencies

None.
`;

export interface Room extends AsyncDisposable {
  readonly bench: Bench;
  readonly context: SpecContext;
  readonly notices: Notice[];
  readonly model: ScriptedModel;
}

export async function room(
  said: readonly ScriptedSaid[] = [spec, "VALID"],
  options: Parameters<typeof makeBench>[0] = {},
): Promise<Room> {
  const bench = await makeBench({ files: { "README.md": "# sample\n" }, ...options });
  const notices: Notice[] = [];
  const model = new ScriptedModel("test/one", ...said);
  const context: SpecContext = {
    ...bench.context,
    machine: { ...bench.context.machine, installRoot: absPath(sourceRoot) },
    editor: { ...bench.context.editor, notify: (notice) => notices.push(notice) },
    cwd: bench.context.root,
    openModel: () =>
      Promise.resolve(
        said.length === 0
          ? { kind: "unavailable", why: "pi is not installed", hint: "Install pi" }
          : { kind: "model", model },
      ),
    redact: (text) => text.replaceAll("sk-secret", "[redacted]"),
    personas: () => projectPersonas(context),
  };
  return { bench, context, notices, model, [Symbol.asyncDispose]: () => bench[Symbol.asyncDispose]() };
}

export const make = (context: SpecContext, ...words: string[]) =>
  newFeature(context, args({ words }), new AbortController().signal);

export interface NewData {
  readonly spec: {
    readonly by: string;
    readonly note?: string;
    readonly review?: unknown;
    readonly findings: readonly { readonly rule: string }[];
  };
  readonly near: readonly string[];
  readonly files: readonly string[];
}
