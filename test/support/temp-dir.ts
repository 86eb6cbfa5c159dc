import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { type AbsPath, absPath } from "../../shared/base/paths.ts";

/** A folder of the test's own, real path, gone with `using`. */
export class TempDir implements Disposable {
  readonly path: AbsPath;

  constructor(prefix = "orch test ") {
    this.path = absPath(fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), prefix))));
  }

  at(...parts: readonly string[]): AbsPath {
    return absPath(path.join(this.path, ...parts));
  }

  [Symbol.dispose](): void {
    fs.rmSync(this.path, { recursive: true, force: true, maxRetries: 5 });
  }
}
