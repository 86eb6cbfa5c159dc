import assert from "node:assert/strict";
import { nvimBuffer } from "../../../shared/app/nvim-buffer.ts";
import { absPath } from "../../../shared/base/paths.ts";
import { isOrchError } from "../../../shared/model/error.ts";
import type { Exit, Process } from "../../../shared/ports/process.ts";

const never = new AbortController().signal;
const place = { env: { NVIM: "/run/nvim.1.0", PATH: "/usr/bin" }, cwd: absPath("/work") };
const file = JSON.stringify({ path: "/work/a.py", changed: false });

function nvim(exit: Exit, said = ""): Process {
  const output = { stdout: new TextEncoder().encode(said), stderr: new Uint8Array(), durationMs: 0, leftovers: 0 };
  return {
    which: async (command: string) => `/usr/bin/${command}`,
    run: async () => ({ ...exit, ...output }),
    stream: () => assert.fail("streamed"),
  } as unknown as Process;
}

describe("app/nvim-buffer", () => {
  const rows: readonly (readonly [string, Exit, string, string | undefined])[] = [
    ["what it looks at", { kind: "exited", code: 0 }, file, "/work/a.py"],
    ["nothing it looks at", { kind: "exited", code: 0 }, "", undefined],
    ["no Neovim behind the socket", { kind: "exited", code: 1 }, "", undefined],
    ["a client that cannot be started", { kind: "not-started", reason: "EACCES" }, "", undefined],
  ];
  for (const [name, exit, said, expected] of rows) {
    it(name, async () => assert.equal((await nvimBuffer(nvim(exit, said), place, never))?.path, expected));
  }

  it("one that does not answer is named, with what names the file instead", async () => {
    await assert.rejects(nvimBuffer(nvim({ kind: "timed-out" }), place, never), (error) => {
      assert.ok(isOrchError(error, "target.missing"));
      assert.equal(
        error.message,
        "the Neovim at $NVIM (/run/nvim.1.0) did not answer in 5 s: name the feature, or the file with --file",
      );
      return true;
    });
  });
});
