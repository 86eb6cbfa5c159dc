import { createTestRunner } from "../../shared/adapters/test-runner.ts";
import { openBystanders } from "../../shared/app/open-bystanders.ts";
import { projectPersonas } from "../../shared/app/project-personas.ts";
import type { SpecContext } from "../../shared/app/spec-draft.ts";
import { type AbsPath, absPath, inRoot } from "../../shared/base/paths.ts";
import type { ParsedEvent } from "../../shared/model/event.ts";
import type { ActiveBuffer } from "../../shared/model/run-files.ts";
import type { Bystanders } from "../../shared/ports/bystanders.ts";
import type { DiffView, Notice } from "../../shared/ports/editor.ts";
import type { TestRunner } from "../../shared/ports/test-runner.ts";
import type { Bench } from "./bench.ts";
import { ScriptedModel, type ScriptedSaid } from "./scripted-model.ts";
import { sourceRoot } from "./source-root.ts";

/** A bench's context with the installed packs, a scripted model and real tests: what the feature pipeline's handlers take. */
export interface PipelineRoom {
  readonly context: SpecContext & {
    readonly testRunner: TestRunner;
    readonly bystanders: Bystanders;
    readonly history: readonly ParsedEvent[];
  };
  readonly notices: Notice[];
  readonly diffs: DiffView[];
  readonly model: ScriptedModel;
}

export interface PipelineOptions {
  /** What the model says, in order; nothing: there is no model. */
  readonly said?: readonly ScriptedSaid[];
  readonly cwd?: AbsPath;
  readonly buffer?: ActiveBuffer;
}

export function pipelineRoom(bench: Bench, options: PipelineOptions = {}): PipelineRoom {
  const { context } = bench;
  const notices: Notice[] = [];
  const diffs: DiffView[] = [];
  const said = options.said ?? [];
  const model = new ScriptedModel("test/one", ...said);
  const machine = { ...context.machine, installRoot: absPath(sourceRoot) };
  const { process, files, runDir } = context;
  return {
    notices,
    diffs,
    model,
    context: {
      ...context,
      machine,
      editor: {
        ...context.editor,
        // A getter of the bench's: it becomes true with the first answer that a test gives.
        get interactive() {
          return context.editor.interactive;
        },
        activeFile: () => Promise.resolve(options.buffer),
        notify: (notice) => notices.push(notice),
        showDiff: (diff) => Promise.resolve(void diffs.push(diff)),
      },
      cwd: options.cwd ?? context.root,
      openModel: () =>
        Promise.resolve(
          said.length === 0
            ? { kind: "unavailable", why: "pi is not installed", hint: "Install pi" }
            : { kind: "model", model },
        ),
      personas: () => projectPersonas({ ...context, machine }),
      redact: (text) => text.replaceAll("sk-secret", "[redacted]"),
      bystanders: openBystanders({ ...context, machine }),
      testRunner: createTestRunner({ process, files, machine, home: inRoot(runDir, "home") }),
      history: [],
    },
  };
}
