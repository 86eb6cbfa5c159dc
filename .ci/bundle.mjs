// Builds dist/: what users get. An entry whose source does not exist yet is skipped and named.
// Files are written only when they changed, each by rename, and old chunks stay for a while: a run started from the
// previous build keeps loading its lazy chunks.
import esbuild from "esbuild";
import fs from "node:fs";
import path from "node:path";
import { ROOT } from "./shell.mjs";

const KEEP_OLD_MS = 15 * 60_000;
const REQUIRE =
  'import { createRequire as orchRequire } from "node:module"; const require = orchRequire(import.meta.url);';
const GRAMMARS = ["python", "typescript", "tsx", "javascript", "go", "rust", "java"];

const base = {
  absWorkingDir: ROOT,
  bundle: true,
  write: false,
  metafile: true,
  platform: "node",
  target: "node22",
  sourcemap: "linked",
  legalComments: "linked",
  minifySyntax: true,
  minifyWhitespace: true,
  logLevel: "warning",
};

const esm = {
  ...base,
  format: "esm",
  splitting: true,
  outExtension: { ".js": ".mjs" },
  banner: { js: REQUIRE },
  // Packages that ship both forms: the ES module one can be split and shaken.
  mainFields: ["module", "main"],
};

const BUNDLES = [
  {
    name: "core",
    owns: ["dist/cli", "dist/runner", "dist/pool", "dist/chunks"],
    entries: {
      "cli/main": "shared/cli/main.ts",
      "runner/main": "shared/runner/main.ts",
      "pool/worker": "shared/adapters/pool-worker.ts",
    },
    options: { ...esm, outdir: "dist", chunkNames: "chunks/[name]-[hash]" },
  },
  {
    name: "extension",
    owns: ["dist/extension"],
    entries: { main: "extension/main.ts" },
    options: { ...esm, outdir: "dist/extension", chunkNames: "[name]-[hash]", external: ["vscode"] },
  },
  {
    name: "nvim",
    owns: ["dist/nvim"],
    entries: { main: "nvim-plugin/src/main.ts" },
    options: {
      ...base,
      format: "cjs",
      outdir: "dist/nvim",
      outExtension: { ".js": ".cjs" },
      banner: { js: 'const orchUrl = require("node:url").pathToFileURL(__filename).href;' },
      define: { "import.meta.url": "orchUrl" },
      // A crash prints the source line: in one long line that would be the whole program.
      minifyWhitespace: false,
      mainFields: ["module", "main"],
      plugins: [ownLogger()],
    },
  },
];

/** The client's own logger brings winston and takes `console` over; ours has the same surface. */
function ownLogger() {
  return {
    name: "own-logger",
    setup(build) {
      build.onResolve({ filter: /\/utils\/logger$/ }, ({ importer }) =>
        /[\\/]neovim[\\/]lib[\\/]/.test(importer) ? { path: path.join(ROOT, "nvim-plugin/src/logger.ts") } : undefined,
      );
    },
  };
}

/** What the sandbox runtime starts itself, found by path: on Linux a system call filter, and an agent for the JVM. */
const RUNTIME = "node_modules/@anthropic-ai/sandbox-runtime";
const SANDBOX = [
  { from: `${RUNTIME}/LICENSE`, to: "dist/sandbox/LICENSE" },
  {
    from: `${RUNTIME}/vendor/java-proxy-agent/srt-proxy-agent.jar`,
    to: "dist/sandbox/java-proxy-agent/srt-proxy-agent.jar",
  },
  ...["x64", "arm64"].map((arch) => ({
    from: `${RUNTIME}/vendor/seccomp/${arch}/apply-seccomp`,
    to: `dist/sandbox/seccomp/${arch}/apply-seccomp`,
    mode: 0o755,
  })),
];

const COPIES = [
  ...SANDBOX,
  { from: "shared/cli/orch.cjs", to: "dist/cli/orch.cjs", mode: 0o755 },
  { from: "node_modules/web-tree-sitter/web-tree-sitter.wasm", to: "dist/wasm/web-tree-sitter.wasm" },
  ...GRAMMARS.map((name) => ({
    from: `node_modules/@vscode/tree-sitter-wasm/wasm/tree-sitter-${name}.wasm`,
    to: `dist/wasm/tree-sitter-${name}.wasm`,
  })),
];

/** Resolves true when everything that has a source was built. `clean` removes what an earlier build left. */
export async function bundle({ clean = false } = {}) {
  if (clean) fs.rmSync(path.join(ROOT, "dist"), { recursive: true, force: true });
  const written = new Set();
  let ok = true;
  for (const one of BUNDLES) ok = (await build(one, written)) && ok;
  for (const { from, to, mode } of COPIES) {
    if (!fs.existsSync(path.join(ROOT, from))) console.log(`Skipped ${to}: ${from} does not exist.`);
    else put(path.join(ROOT, to), fs.readFileSync(path.join(ROOT, from)), written, mode);
  }
  if (ok) for (const { owns } of BUNDLES) for (const folder of owns) dropOld(path.join(ROOT, folder), written);
  return ok;
}

async function build({ name, entries, options }, written) {
  const present = {};
  for (const [out, source] of Object.entries(entries)) {
    if (fs.existsSync(path.join(ROOT, source))) present[out] = source;
    else console.log(`Skipped dist bundle ${name}/${out}: ${source} does not exist.`);
  }
  if (Object.keys(present).length === 0) return true;
  try {
    const result = await esbuild.build({ ...options, entryPoints: present });
    for (const file of result.outputFiles) put(file.path, file.contents, written);
    put(path.join(ROOT, "dist/meta", `${name}.json`), Buffer.from(JSON.stringify(result.metafile)), written);
    return true;
  } catch (error) {
    if (!error.errors) throw error;
    console.error(`Bundling ${name} failed: ${error.errors.length} errors, listed above.`);
    return false;
  }
}

function put(file, bytes, written, mode = 0o644) {
  written.add(file);
  if (fs.existsSync(file) && Buffer.compare(fs.readFileSync(file), bytes) === 0) {
    fs.utimesSync(file, new Date(), new Date());
    fs.chmodSync(file, mode);
    return;
  }
  fs.mkdirSync(path.dirname(file), { recursive: true });
  const temp = `${file}.${process.pid}.part`;
  fs.writeFileSync(temp, bytes, { mode });
  fs.renameSync(temp, file);
}

function dropOld(folder, written) {
  if (!fs.existsSync(folder)) return;
  for (const name of fs.readdirSync(folder)) {
    const file = path.join(folder, name);
    if (!written.has(file) && Date.now() - fs.statSync(file).mtimeMs > KEEP_OLD_MS)
      fs.rmSync(file, { recursive: true });
  }
}
