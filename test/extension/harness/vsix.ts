// The package that a person would install, made once per test process out of what the build left in dist/.
import path from "node:path";
import { pathToFileURL } from "node:url";
import { ROOT } from "./server.ts";

let made: Promise<string> | undefined;

export function vsix(): Promise<string> {
  made ??= pack();
  return made;
}

async function pack(): Promise<string> {
  const { packVsix } = (await import(pathToFileURL(path.join(ROOT, ".ci/vsix.mjs")).href)) as {
    packVsix(file: string): Promise<number>;
  };
  const file = path.join(ROOT, "artifacts/extension/under-test.vsix");
  const code = await packVsix(file);
  if (code !== 0) throw new Error(`vsce ended with ${code}; its message is above`);
  return file;
}
