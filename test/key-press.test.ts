// What loads when a person presses Tab: read from the metafile of the build, so it is about what users get. Milliseconds
// belong to the machine; what must be read and compiled before the first word is offered belongs to us.
import { deepEqual, equal } from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { sourceRoot } from "./support/source-root.ts";

interface Metafile {
  readonly outputs: Readonly<
    Record<
      string,
      {
        readonly bytes: number;
        readonly entryPoint?: string;
        readonly imports: readonly { readonly path: string; readonly kind: string }[];
        readonly inputs: Readonly<Record<string, unknown>>;
      }
    >
  >;
}

const maxBytes = 96 * 1024;
/** Globs, which come with base/paths.ts: small, and read in a millisecond. */
const small = /node_modules\/picomatch\//;
const entry = "shared/cli/main.ts";
const answer = "shared/cli/complete.ts";

/** Everything that main loads by itself, and then what complete.ts does; nothing else. */
function faults({ outputs }: Metafile): string[] {
  const holding = (input: string): string | undefined =>
    Object.entries(outputs).find(
      ([, output]) => output.entryPoint === input || (input === answer && input in output.inputs),
    )?.[0];
  const starts = [holding(entry), holding(answer)];
  if (starts.includes(undefined)) return ["the build has no output for main or complete"];
  const closure = new Set(starts.filter((file) => file !== undefined));
  for (const file of closure) {
    for (const { path: target, kind } of outputs[file]?.imports ?? [])
      if (kind === "import-statement" && target in outputs) closure.add(target);
  }
  const bytes = [...closure].reduce((sum, file) => sum + (outputs[file]?.bytes ?? 0), 0);
  const packages = [...closure].flatMap((file) =>
    Object.keys(outputs[file]?.inputs ?? {}).filter((input) => input.includes("node_modules/") && !small.test(input)),
  );
  return [
    ...(bytes > maxBytes ? [`${bytes} bytes are loaded, more than ${maxBytes}`] : []),
    ...packages.map((input) => `${input} is loaded`),
  ];
}

describe("a key press in a shell", () => {
  it("loads little", () => {
    const file = path.join(sourceRoot, "dist/meta/core.json");
    equal(fs.existsSync(file), true, "dist/meta/core.json is missing; next: npm run build");
    deepEqual(faults(JSON.parse(fs.readFileSync(file, "utf8")) as Metafile), []);
  });

  it("would notice a package, and too much", () => {
    const chunk = { bytes: 99_000, imports: [], inputs: { "node_modules/zod/index.js": {} } };
    const meta: Metafile = {
      outputs: {
        "cli/main.mjs": {
          bytes: 1,
          entryPoint: entry,
          imports: [{ path: "c.mjs", kind: "dynamic-import" }],
          inputs: {},
        },
        "c.mjs": { bytes: 1, imports: [{ path: "z.mjs", kind: "import-statement" }], inputs: { [answer]: {} } },
        "z.mjs": chunk,
      },
    };
    deepEqual(faults(meta), ["99002 bytes are loaded, more than 98304", "node_modules/zod/index.js is loaded"]);
  });
});
