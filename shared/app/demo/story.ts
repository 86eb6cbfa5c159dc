import { type AbsPath, absPath } from "../../base/paths.ts";
import { Cassette } from "../../model/cassette.ts";
import { OrchError } from "../../model/error.ts";
import type { MachineContext } from "../context.ts";
import { demoCassette } from "./cassette.ts";
import { typescriptCassette } from "./cassette-typescript.ts";
import { findTypeNode } from "./node.ts";
import { findPytest } from "./python.ts";
import { sampleFiles, typescriptSampleFiles } from "./sample.ts";

/** What the demo tells: one and the same invoice, in the language whose test program is on this machine. */
export interface DemoStory {
  readonly language: "Python" | "TypeScript";
  readonly cassette: Cassette;
  /** The sample project: path -> text. */
  readonly files: Readonly<Record<string, string>>;
  /** The test program as people call it. */
  readonly tests: string;
  /** Folder of the program that runs the tests: it goes to the front of the demo's PATH. */
  readonly bin: string;
  /** Why it is not the usual one. */
  readonly why?: string;
}

/**
 * Python where pytest is, else TypeScript on the Node that is there anyway. Installs nothing.
 *
 * @throws OrchError `env.no-python` when the machine has neither
 */
export async function chooseStory(
  { process, machine }: Pick<MachineContext, "process" | "machine">,
  nodePath: string | undefined,
  signal: AbortSignal,
): Promise<DemoStory> {
  const cwd: AbsPath = absPath(machine.installRoot);
  const deps = { process, env: machine.env, cwd, platform: machine.platform };
  const python = await findPytest(deps, signal);
  if (python.kind === "found") {
    const cassette = Cassette.parse(demoCassette);
    return { language: "Python", cassette, files: sampleFiles, tests: "pytest", bin: python.bin };
  }
  const why =
    python.kind === "no-python"
      ? "there is no Python on the PATH"
      : `${python.path} has no pytest, and no other Python on the PATH has it`;
  const bin = await findTypeNode({ ...deps, ...(nodePath === undefined ? {} : { nodePath }) }, signal);
  if (bin === undefined)
    throw new OrchError("env.no-python", `the demo runs real tests: ${why}, and no Node.js that runs TypeScript`);
  const cassette = Cassette.parse(typescriptCassette);
  return { language: "TypeScript", cassette, files: typescriptSampleFiles, tests: "Node's test runner", bin, why };
}
