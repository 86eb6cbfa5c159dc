import assert from "node:assert/strict";
import { type FeatureRepo, makeFeatureRepo, projectFiles } from "./feature-repo.ts";
import { goodReply, invoiceSpec } from "./invoice-replies.ts";
import { orchJson } from "./orch-cli.ts";
import type { Call, Step } from "./scripted-model-server/script.ts";
import { startScriptedModelServer } from "./scripted-model-server/server.ts";

/** A repository whose feature Billing/Invoice is ready for `do`: spec written by the person, so no model was asked yet. */
export interface ReadyFeature extends AsyncDisposable {
  readonly work: FeatureRepo;
  readonly calls: readonly Call[];
}

export const goodStep: Step = { match: { system: "backend engineer" }, reply: { text: goodReply } };
export const slice = "features/Billing/Invoice";

export async function readyFeature(
  options: {
    readonly steps?: readonly Step[];
    readonly files?: Readonly<Record<string, string>>;
    readonly trusted?: boolean;
  } = {},
): Promise<ReadyFeature> {
  const server = await startScriptedModelServer({ steps: options.steps ?? [goodStep] });
  const work = await makeFeatureRepo(server.baseUrl, { files: { ...projectFiles, ...options.files } });
  const made = await orchJson(work.place, "new", "Billing/Invoice");
  assert.equal(made.code, 0, JSON.stringify(made));
  await work.repo.write(`${slice}/spec.md`, invoiceSpec);
  if (options.trusted !== false) await work.trust();
  return {
    work,
    calls: server.calls,
    async [Symbol.asyncDispose]() {
      await work[Symbol.asyncDispose]();
      await server[Symbol.asyncDispose]();
    },
  };
}
