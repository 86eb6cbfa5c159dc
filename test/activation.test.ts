// What loads when the editor starts the extension: read from the metafile that the build leaves, so it is about what
// users get. The static closure of dist/extension/main.mjs stays tiny; everything else waits behind await import().
import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";

interface Metafile {
  readonly outputs: Readonly<Record<string, MetaOutput>>;
}
interface MetaOutput {
  readonly bytes: number;
  readonly entryPoint?: string;
  readonly imports: readonly { readonly path: string; readonly kind: string; readonly external?: boolean }[];
  readonly inputs: Readonly<Record<string, { readonly bytesInOutput: number }>>;
}

const MAX_BYTES = 8 * 1024;
const ENTRY = "extension/main.ts";
const HEAVY = [/(^|\/)node_modules\//, /^shared\/(engine|gates|adapters|features|rulebook|prompts)\//];
const ALLOWED_EXTERNAL = new Set(["vscode", "node:module"]); // node:module is the banner's createRequire

function activationFaults(meta: Metafile): string[] {
  const entry = Object.entries(meta.outputs).find(([, output]) => output.entryPoint === ENTRY);
  if (!entry) return [`no output has the entry point ${ENTRY}`];
  const closure = new Map([entry]);
  const faults: string[] = [];
  for (const [file, output] of closure) {
    for (const { path: target, kind, external } of output.imports) {
      if (kind !== "import-statement") continue;
      const chunk = meta.outputs[target];
      if (external !== true && chunk) closure.set(target, chunk);
      else if (!ALLOWED_EXTERNAL.has(target)) faults.push(`${file} imports ${target} at activation`);
    }
    const inputs = Object.keys(output.inputs).filter((input) => HEAVY.some((heavy) => heavy.test(input)));
    faults.push(...inputs.map((input) => `${file} holds ${input} at activation`));
  }
  const bytes = [...closure.values()].reduce((sum, output) => sum + output.bytes, 0);
  if (bytes > MAX_BYTES) faults.push(`the static closure has ${bytes} bytes, more than ${MAX_BYTES}`);
  return faults;
}

function rootOf(from: string): string {
  return fs.existsSync(path.join(from, "tsconfig.json")) ? from : rootOf(path.dirname(from));
}
const ROOT = rootOf(import.meta.dirname);

describe("activation", () => {
  it("loads next to nothing (skipped while extension/main.ts does not exist)", function () {
    if (!fs.existsSync(path.join(ROOT, ENTRY))) this.skip();
    const file = path.join(ROOT, "dist/meta/extension.json");
    assert.ok(fs.existsSync(file), "dist/meta/extension.json is missing; next: npm run build");
    assert.deepEqual(activationFaults(JSON.parse(fs.readFileSync(file, "utf8")) as Metafile), []);
  });

  const lazy = { bytes: 900_000, imports: [], inputs: { "node_modules/zod/index.js": { bytesInOutput: 1 } } };
  const meta = (main: Partial<MetaOutput>, chunk: Partial<MetaOutput> = {}): Metafile => ({
    outputs: {
      "main.mjs": { bytes: 300, entryPoint: ENTRY, imports: [], inputs: {}, ...main },
      "chunk.mjs": { bytes: 2000, imports: [], inputs: {}, ...chunk },
      "lazy.mjs": lazy,
    },
  });
  const statically = [{ path: "chunk.mjs", kind: "import-statement" }];

  it("lets heavy code wait behind a dynamic import", () => {
    const imports = [...statically, { path: "lazy.mjs", kind: "dynamic-import" }];
    assert.deepEqual(activationFaults(meta({ imports })), []);
  });

  it("notices weight, packages, the engine and foreign imports in the closure", () => {
    const found = [
      meta({ imports: statically }, { bytes: 9000 }),
      meta({ imports: statically }, { inputs: { "node_modules/zod/index.js": { bytesInOutput: 1 } } }),
      meta({ inputs: { "shared/engine/wave.ts": { bytesInOutput: 1 } } }),
      meta({ imports: [{ path: "node:fs", kind: "import-statement", external: true }] }),
      { outputs: {} },
    ].map((one) => activationFaults(one).length);
    assert.deepEqual(found, [1, 1, 1, 1, 1]);
  });
});
