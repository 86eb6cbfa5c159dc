// Generated files: every module in .ci/gen exports generate(readText), which resolves with { path: new text }. It may
// import compiled code from out/. Without --check the files are written; with it a difference fails and is named.
import fs from "node:fs";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { ROOT } from "./shell.mjs";

export async function generate(args) {
  const check = args.includes("--check");
  const stale = [];
  for (const [file, text] of await wanted()) {
    if (readText(file) === text) continue;
    stale.push(file);
    if (!check) write(file, text);
  }
  if (!check) console.log(stale.length > 0 ? `Wrote ${stale.join(", ")}.` : "Every generated file was current.");
  else for (const file of stale) console.error(`${file} is not what its generator makes.\nNext: npm run gen`);
  return check && stale.length > 0 ? 1 : 0;
}

async function wanted() {
  const folder = path.join(ROOT, ".ci/gen");
  const modules = fs.existsSync(folder)
    ? fs
        .readdirSync(folder)
        .filter((name) => name.endsWith(".mjs"))
        .sort()
    : [];
  const files = [];
  for (const name of modules) {
    const { generate: make } = await import(pathToFileURL(path.join(folder, name)).href);
    files.push(...Object.entries(await make(readText)));
  }
  return files;
}

function readText(file) {
  const at = path.join(ROOT, file);
  return fs.existsSync(at) ? fs.readFileSync(at, "utf8") : undefined;
}

function write(file, text) {
  const at = path.join(ROOT, file);
  fs.mkdirSync(path.dirname(at), { recursive: true });
  fs.writeFileSync(`${at}.part`, text);
  fs.renameSync(`${at}.part`, at);
}
