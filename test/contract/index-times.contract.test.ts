import { deepEqual, equal } from "node:assert/strict";
import { statSync, utimesSync } from "node:fs";
import path from "node:path";
import { youngFiles } from "../../shared/adapters/index-times.ts";
import { makeTempRepo } from "../support/temp-repo.ts";

describe("contract: files as young as their index", function () {
  this.timeout(600_000);

  it("are read from the index of either object format, executable or not, and from no newer kind", async () => {
    for (const format of ["sha1", "sha256"] as const) {
      await using repo = await makeTempRepo({ firstCommit: false });
      await repo.gitIn(repo.base, "init", "-q", `--object-format=${format}`, "other");
      const folder = path.join(repo.base, "other");
      const names = ["a.txt", "deep/er/b ü.txt", "run.sh", "x".repeat(70)];
      for (const name of names) await repo.write(`../other/${name}`, "x\n", name.endsWith(".sh") ? 0o755 : 0o644);
      await repo.link("../other/link", "a.txt");
      await repo.gitIn(folder, "add", "-A");
      const index = path.join(folder, ".git/index");
      utimesSync(index, new Date(), new Date(statSync(path.join(folder, "a.txt")).ctimeMs));
      const young = (await youngFiles(index, format))?.map((one) => [Buffer.from(one.path).toString(), one.executable]);
      deepEqual(
        young,
        names.toSorted().map((name) => [name, name.endsWith(".sh")]),
        format,
      );
      const later = new Date(Date.now() + 5_000);
      utimesSync(index, later, later);
      deepEqual(await youngFiles(index, format), [], format);
      await repo.gitIn(folder, "update-index", "--index-version", "4");
      equal(await youngFiles(index, format), undefined, format);
    }
  });
});
