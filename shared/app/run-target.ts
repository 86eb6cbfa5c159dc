import { inRoot } from "../base/paths.ts";
import { featureOfBranch } from "../features/branches.ts";
import { resolveFacts } from "../features/registry-space.ts";
import { resolveTarget } from "../features/resolve.ts";
import { isOrchError } from "../model/error.ts";
import { readJson } from "../model/json-text.ts";
import { RunTarget } from "../model/run-files.ts";
import { type Target, targetText } from "../model/target.ts";
import type { EventSink } from "../ports/event-sink.ts";
import type { CommandArgs, RepoContext } from "./context.ts";
import { registeredIn } from "./feature-branch.ts";
import { projectHere } from "./project-here.ts";

type TargetContext = Parameters<typeof projectHere>[0] &
  Pick<RepoContext, "git" | "runDir"> & { readonly sink: EventSink };

/** Commands that take the feature from the checked-out branch when nobody names it. */
const inferring: ReadonlySet<string> = new Set(["do", "merge", "undo", "delete"]);
/** Those that are about one feature: for them the log says which. */
const ofFeature: ReadonlySet<string> = new Set([...inferring, "new", "modify", "move"]);

/**
 * The words of a run with its feature named: what a run is about is settled when it begins, and written into its folder.
 * A person who goes to another branch before `resume` still resumes the feature that the run was about.
 */
export async function withRunTarget(
  context: TargetContext,
  command: string,
  args: CommandArgs,
  resumed: boolean,
): Promise<CommandArgs> {
  if (!ofFeature.has(command)) return args;
  const [word] = args.words;
  const named = word !== undefined && !/\s/.test(word);
  if (resumed) {
    const feature = named || !inferring.has(command) ? undefined : await noted(context);
    return feature === undefined ? args : { ...args, words: [feature, ...args.words] };
  }
  const target = named ? await ofWord(context, word, args.app) : await ofBranch(context);
  if (target === undefined) return args;
  const feature = targetText(target);
  if (!args.dryRun) context.sink.append({ type: "target.named", feature });
  if (!named && inferring.has(command)) await note(context, feature);
  // The first time the command infers it by itself, with its own checks of the branch.
  return args;
}

async function noted({ files, runDir }: TargetContext): Promise<string | undefined> {
  const text = await files.readText(inRoot(runDir, "target.json"));
  const read = text === undefined ? undefined : readJson(text, RunTarget);
  return read?.kind === "ok" ? read.value.feature : undefined;
}

async function note({ files, runDir }: TargetContext, feature: string): Promise<void> {
  await files.write(inRoot(runDir, "target.json"), `${JSON.stringify({ v: 1, feature } satisfies RunTarget)}\n`, {
    mode: 0o600,
  });
}

/** Says nothing where the branch is no feature's: the command itself refuses then, in its own words. */
async function ofBranch(context: TargetContext): Promise<Target | undefined> {
  const head = await context.git.head();
  const branch =
    head.kind === "branch" ? (await context.git.branches()).find(({ name }) => name === head.branch) : undefined;
  return branch === undefined ? undefined : featureOfBranch(branch, registeredIn(await projectHere(context)));
}

/** The same for a word that names none. */
async function ofWord(context: TargetContext, word: string, app: string | undefined): Promise<Target | undefined> {
  const project = await projectHere(context);
  try {
    const { target, by } = resolveTarget(word, resolveFacts(project, app));
    if (by === "given" || by === "registered") return target;
    // On main the registry does not know a feature that only its branch has registered.
    const registered = registeredIn(project);
    const targets = (await context.git.branches()).map((branch) => featureOfBranch(branch, registered));
    return targets.find((one) => one?.name === target.name) ?? target;
  } catch (error) {
    if (isOrchError(error)) return undefined;
    throw error;
  }
}
