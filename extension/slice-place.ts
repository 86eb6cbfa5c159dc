import path from "node:path";
import type { Vscode } from "./vscode-api.ts";

/** `domain/Feature` of a file in a slice: the two folders above it. */
export function targetOfFile(file: string, featuresDir: string): string | undefined {
  const parts = file.split(path.sep);
  const at = parts.lastIndexOf(path.basename(featuresDir));
  const [domain, name] = [parts[at + 1], parts[at + 2]];
  return at === -1 || domain === undefined || name === undefined || parts.length < at + 4
    ? undefined
    : `${domain}/${name}`;
}

/** `features_dir` of the registry at the root; `features` when it says nothing. */
export async function featuresDir(vscode: Vscode, root: string): Promise<string> {
  try {
    const bytes = await vscode.workspace.fs.readFile(vscode.Uri.joinPath(vscode.Uri.file(root), ".features.json"));
    const value: unknown = JSON.parse(new TextDecoder().decode(bytes));
    const dir: unknown = typeof value === "object" && value !== null ? Reflect.get(value, "features_dir") : undefined;
    return typeof dir === "string" && dir !== "" ? dir : "features";
  } catch {
    return "features";
  }
}
