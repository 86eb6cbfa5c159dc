import assert from "node:assert/strict";
import { projectTools } from "../../../shared/app/open-agent.ts";
import { absPath } from "../../../shared/base/paths.ts";
import { Contract } from "../../../shared/model/contract.ts";

const root = absPath("/home/me/shop");
const tools = (argv: readonly string[], env: Readonly<Record<string, string>> = {}): readonly string[] =>
  projectTools(
    root,
    Contract.parse({ id: "T", title: "t", goal: "g", allowed: ["a"], checks: [{ name: "c", argv, env }] }),
  );

describe("the project's tools for an agent", () => {
  it("are the folders of the checkout that its checks are started with, each once", () =>
    assert.deepEqual(
      tools(["/home/me/shop/.venv/bin/python", "-m", "pytest"], { UV_PROJECT_ENVIRONMENT: "/home/me/shop/.venv" }),
      ["/home/me/shop/.venv"],
    ));

  it("are never the checkout itself, what only looks like it, or programs from elsewhere", () =>
    assert.deepEqual(
      tools(["python3", "--rootdir=/home/me/shop", "/home/me/shop", "/home/me/shop/", "/home/me/shopping/bin/x"], {
        PYTHONPATH: "{root}",
      }),
      [],
    ));
});
