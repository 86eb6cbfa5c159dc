import type { CommandResult } from "../../model/command-result.ts";
import { OrchError } from "../../model/error.ts";
import { repositoryText, type TrustState } from "../../model/trust.ts";
import type { Handler, RepoContext } from "../context.ts";
import { askTrust, isFullyTrusted, requireReadableSettings, trustSummary } from "../trust.ts";

/** The document of `trust --dry-run --json`: what an editor shows as a diff before it asks. */
export interface TrustLook {
  readonly trusted: boolean;
  readonly hash: string;
  /** Files that would take effect; `former` is the text that was trusted, where it was another one. */
  readonly waiting: readonly { readonly path: string; readonly former?: string }[];
  readonly gitKeys: TrustState["gitKeys"];
}

/** Shows what this repository would run or change, and records the person's decision by content hash. */
export const trust: Handler<RepoContext> = async (context, args, signal) => {
  const state = await context.trust.state();
  const data = {
    repository: state.repository,
    hash: state.hash,
    code: state.code,
    files: state.files,
    gitKeys: state.gitKeys,
  };
  if (args.revoke) {
    if (!args.dryRun) await context.trust.revoke();
    return {
      ok: true,
      code: 0,
      summary: `not trusted any more: ${repositoryText(state.repository)}`,
      next: ["orch trust"],
      data: { ...data, code: false },
    };
  }
  await requireReadableSettings(context, state);
  if (args.dryRun) return look(context, state);
  if (args.hash !== undefined) {
    if (args.hash !== state.hash) {
      throw new OrchError("trust.mismatch", `the content to trust is ${state.hash}, not ${args.hash}`, {
        data: { hash: state.hash },
      });
    }
    await context.trust.grant(state);
    return { ok: true, code: 0, summary: `trusted ${state.hash}`, next: ["orch do"], data: { ...data, code: true } };
  }
  if (isFullyTrusted(state)) {
    return {
      ok: true,
      code: 0,
      summary: `trusted already: ${repositoryText(state.repository)}`,
      next: ["orch do", "orch trust --revoke"],
      data,
    };
  }
  if (!context.editor.interactive) {
    throw new OrchError("trust.needed", `not trusted: ${trustSummary(state)}. Its content is ${state.hash}`, {
      data: { hash: state.hash },
    });
  }
  if (!(await askTrust(context, state, `Trust ${repositoryText(state.repository)}?`, signal)))
    throw new OrchError("trust.needed", "not trusted, nothing was changed", { data: { hash: state.hash } });
  return { ok: true, code: 0, summary: `trusted ${state.hash}`, next: ["orch do"], data: { ...data, code: true } };
};

async function look({ trust }: RepoContext, state: TrustState): Promise<CommandResult> {
  const waiting = state.files.filter((file) => !file.trusted);
  const rows = await Promise.all(
    waiting.map(async ({ path }) => {
      const former = await trust.formerBytes(path);
      return { path, ...(former === undefined ? {} : { former: new TextDecoder().decode(former) }) };
    }),
  );
  const trusted = isFullyTrusted(state);
  const gitKeys = state.gitKeys.filter((key) => !key.trusted);
  const data: TrustLook = { trusted, hash: state.hash, waiting: rows, gitKeys };
  const summary = trusted
    ? `trusted already: ${repositoryText(state.repository)}`
    : `not trusted: ${trustSummary(state)}`;
  return { ok: true, code: 0, summary, next: trusted ? ["orch do"] : ["orch trust"], data };
}
