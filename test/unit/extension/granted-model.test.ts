import assert from "node:assert/strict";
import { grantedModel } from "../../../extension/granted-model.ts";

type Api = Parameters<typeof grantedModel>[0];
type Access = Parameters<typeof grantedModel>[1];

const lm = (...ids: readonly string[]): Api => {
  const models = ids.map((one) => ({ vendor: one.split("/")[0], id: one.split("/")[1] }));
  return { lm: { selectChatModels: async () => models } } as unknown as Api;
};
const access = (granted: Readonly<Record<string, boolean>>): Access => ({ canSendRequest: ({ id }) => granted[id] });
const refused = (...vendors: readonly string[]) => ({ isRefused: (vendor: string) => vendors.includes(vendor) });

describe("extension/granted-model", () => {
  it("is the first that may be used without a question", async () => {
    assert.equal(
      await grantedModel(lm("copilot/a", "copilot/b"), access({ a: false, b: true }), refused()),
      "vscode-lm/copilot/b",
    );
  });
  it("is of no vendor that the person refused", async () => {
    const both = access({ a: true, b: true });
    assert.equal(await grantedModel(lm("copilot/a", "other/b"), both, refused("copilot")), "vscode-lm/other/b");
    assert.equal(await grantedModel(lm("copilot/a"), both, refused("copilot")), undefined);
  });
  it("is none where nobody was asked yet, and never Orch's own provider", async () => {
    assert.equal(await grantedModel(lm("copilot/a", "orch/chain"), access({ chain: true }), refused()), undefined);
  });
  it("is none where the editor cannot say", async () => {
    const broken = { lm: { selectChatModels: async () => Promise.reject(new Error("no models")) } } as unknown as Api;
    assert.equal(await grantedModel(broken, access({}), refused()), undefined);
  });
});
