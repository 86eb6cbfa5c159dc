import { OrchError } from "../model/error.ts";
import type { TestCommand } from "../ports/test-runner.ts";
import type { CommandArgs } from "./context.ts";
import type { DoContext } from "./do-context.ts";
import type { DoPlan } from "./do-plan.ts";
import { agentOf } from "./do-way.ts";

/**
 * The test program is looked for before anything changes: without it no attempt could ever pass.
 *
 * @throws OrchError `env.missing-tool`
 */
export async function chooseTests(
  context: DoContext,
  args: CommandArgs,
  plan: DoPlan,
  signal: AbortSignal,
): Promise<TestCommand> {
  const { pack } = plan.pack;
  const tests = `${plan.feature.dir}/${pack.roles.tests}` as DoPlan["feature"]["dir"];
  // An agent's attempts are tested in its worktree, where the project's own tools are not.
  const root = agentOf(args) === undefined ? context.root : context.runDir;
  const subject = { root, toolsRoot: context.root, tests, dir: plan.feature.dir };
  const chosen = await context.testRunner.choose(pack, subject, signal);
  if (chosen.kind === "command") return chosen.command;
  throw new OrchError("env.missing-tool", chosen.message, { data: { tool: `the test program of ${pack.title}` } });
}
