import type * as vscode from "vscode";
import type { ModelLane } from "./model-lane.ts";
import type { Vscode } from "./vscode-api.ts";

/**
 * A language model that the editor says Orch may use, as `vscode-lm/<vendor>/<id>`; undefined when there is none. Never
 * of a vendor that the person refused, and never Orch's own provider, which would ask itself. This asks nobody: an editor
 * that says yes without knowing (VS Code 1.139 does) asks the person when a run they started sends its first request.
 */
export async function grantedModel(
  vscode: Pick<Vscode, "lm">,
  access: Pick<vscode.LanguageModelAccessInformation, "canSendRequest">,
  lane: Pick<ModelLane, "isRefused">,
): Promise<string | undefined> {
  const models = await vscode.lm.selectChatModels().then(
    (found) => found,
    () => [],
  );
  const model = models.find(
    (one) => one.vendor !== "orch" && !lane.isRefused(one.vendor) && access.canSendRequest(one) === true,
  );
  return model === undefined ? undefined : `vscode-lm/${model.vendor}/${model.id}`;
}
