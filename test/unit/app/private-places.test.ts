import assert from "node:assert/strict";
import { privatePlaces, toolPlaces } from "../../../shared/app/private-places.ts";

describe("private places", () => {
  it("every hidden entry of a home is closed but those of tools, known or not", () => {
    const names = [
      ".ssh",
      ".aws",
      ".netrc",
      ".new-agent",
      ".bash_history",
      ".config",
      ".cache",
      ".pyenv",
      ".cargo",
      "work",
    ];
    const closed = privatePlaces("/home/p", names);
    for (const name of [".ssh", ".aws", ".netrc", ".new-agent", ".bash_history", ".config", ".cache"])
      assert.ok(closed.includes(`/home/p/${name}`), name);
    for (const name of [".pyenv", ".cargo", "work"]) assert.ok(!closed.includes(`/home/p/${name}`), name);
    assert.ok(closed.includes("/home/p/.cargo/credentials.toml"));
    assert.ok(closed.includes("/home/p/.local/share/keyrings"));
  });

  const rows: readonly (readonly [string, string])[] = [
    ["/usr/bin", "/usr"],
    ["/bin", "/bin"],
    ["/home/p/.pyenv/shims", "/home/p/.pyenv"],
    ["/home/p/.cache/node-24/bin", "/home/p/.cache/node-24"],
    ["/home/p/.local/bin", "/home/p/.local/bin"],
    ["/home/p/bin", "/home/p/bin"],
    ["/home/bin", "/home/bin"],
    ["/home/p/scripts", "/home/p/scripts"],
    ["/tmp/bin", "/tmp/bin"],
    ["/tmp/tools/bin", "/tmp/tools"],
    ["/work/shop/.venv/bin", "/work/shop/.venv"],
  ];
  for (const [folder, place] of rows)
    it(`${folder} is shown with ${place}`, () => {
      assert.deepEqual(toolPlaces([folder], "/home/p"), [place]);
    });
});
