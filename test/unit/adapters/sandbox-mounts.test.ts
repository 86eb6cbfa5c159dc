import assert from "node:assert/strict";
import { bwrapArgv } from "../../../shared/adapters/sandbox-bwrap.ts";
import { mountsOf } from "../../../shared/adapters/sandbox-mounts.ts";
import { absPath } from "../../../shared/base/paths.ts";
import type { Confinement } from "../../../shared/ports/sandbox.ts";

const files = new Set(["/home/p/.netrc", "/work/tree/.git"]);
const absent = new Set(["/home/p/.gone", "/var/tmp"]);
const links: Readonly<Record<string, string>> = { "/home/p/link": "/work/tree" };

const mounts = (within: { readonly [K in keyof Confinement]?: readonly string[] }): string[] => {
  const paths = (some: readonly string[] = []): ReturnType<typeof absPath>[] => some.map((path) => absPath(path));
  const { write, denyWrite, denyRead, allowRead, hosts = [] } = within;
  const whole = {
    write: paths(write),
    denyWrite: paths(denyWrite),
    denyRead: paths(denyRead),
    allowRead: paths(allowRead),
    hosts,
  };
  return mountsOf(
    whole,
    (path) => (files.has(path) ? "file" : "folder"),
    (path) => (absent.has(path) ? undefined : (links[path] ?? path)),
  ).map(({ path, as }) => `${as} ${path}`);
};

describe("sandbox mounts", () => {
  it("folders of sockets are empty in any case, what is not there needs nothing", () => {
    assert.deepEqual(mounts({ denyRead: ["/home/p/.gone"] }), ["empty /run", "empty /tmp"]);
  });

  it("outer paths come before inner ones, and the nearest word decides", () => {
    assert.deepEqual(
      mounts({
        write: ["/work/tree", "/home/p/own"],
        denyWrite: ["/work/tree/.git", "/work/tree/.orch"],
        denyRead: ["/home/p", "/work/tree/.orch/hidden"],
        allowRead: ["/home/p/.pyenv"],
      }),
      [
        "empty /run",
        "empty /tmp",
        "empty /home/p",
        "writable /work/tree",
        "readable /home/p/.pyenv",
        "writable /home/p/own",
        "readable /work/tree/.git",
        "readable /work/tree/.orch",
        "empty /work/tree/.orch/hidden",
      ],
    );
  });

  it("of one path the stronger word holds: not written over written over read over closed", () => {
    assert.deepEqual(mounts({ write: ["/a"], denyRead: ["/a"] }).slice(0, 1), ["writable /a"]);
    assert.deepEqual(mounts({ allowRead: ["/tmp"] }), ["empty /run"]);
    assert.deepEqual(mounts({ write: ["/tmp"] }), ["empty /run", "writable /tmp"]);
  });

  it("a closed file is an empty one, links are followed, and what is readable anyway is not mounted", () => {
    assert.deepEqual(
      mounts({ denyRead: ["/home/p/.netrc"], write: ["/home/p/link"], allowRead: ["/usr/lib", "/work"] }),
      ["empty /run", "empty /tmp", "writable /work/tree", "hidden /home/p/.netrc"],
    );
  });

  it("as bubblewrap reads it: mounts in order, closed folders read-only, /tmp the program's own", () => {
    const argv = bwrapArgv({
      bwrap: "/usr/bin/bwrap",
      cwd: "/work/tree",
      mounts: [
        { path: "/tmp", as: "empty" },
        { path: "/home/p", as: "empty" },
        { path: "/home/p/.netrc", as: "hidden" },
        { path: "/work/tree", as: "writable" },
        { path: "/work/tree/.git", as: "readable" },
      ],
      argv: ["/bin/sh", "-c", "true"],
    });
    const from = argv.indexOf("--proc") + 2;
    assert.deepEqual(argv.slice(from), [
      ...["--tmpfs", "/tmp", "--tmpfs", "/home/p", "--ro-bind", "/dev/null", "/home/p/.netrc"],
      ...["--bind", "/work/tree", "/work/tree", "--ro-bind", "/work/tree/.git", "/work/tree/.git"],
      ...["--remount-ro", "/home/p"],
      ...["--chdir", "/work/tree", "--setenv", "TMPDIR", "/tmp", "--", "/bin/sh", "-c", "true"],
    ]);
    for (const what of ["--die-with-parent", "--unshare-net", "--unshare-pid", "--unshare-ipc", "--cap-drop"])
      assert.ok(argv.includes(what), what);
  });
});
