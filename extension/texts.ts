import type * as vscode from "vscode";
import type { Vscode } from "./vscode-api.ts";

/** main.ts registers it, and the manifest activates on it. */
const scheme = "orch-change";

/**
 * Read-only texts: the sides of diffs. They are a file system and no text provider: a window that restores a diff waits
 * for a file system, and shows an empty text where only a provider is missing. What nobody made in this window yet is
 * made again from its address.
 */
export class Texts {
  readonly #vscode: Vscode;
  readonly #again: (uri: vscode.Uri) => Promise<void>;
  readonly #bytes = new Map<string, Uint8Array>();

  constructor(vscode: Vscode, again: (uri: vscode.Uri) => Promise<void>) {
    this.#vscode = vscode;
    this.#again = again;
  }

  /** `file` is what the tab and the language come from, `address` what tells two texts of one file apart. */
  put(file: string, address: string, text: string): vscode.Uri {
    const uri = this.#vscode.Uri.from({ scheme, path: `/${file}`, query: address });
    this.#bytes.set(uri.toString(), new TextEncoder().encode(text));
    return uri;
  }

  async read(uri: vscode.Uri): Promise<Uint8Array> {
    const key = uri.toString();
    if (!this.#bytes.has(key)) await this.#again(uri);
    const bytes = this.#bytes.get(key);
    if (bytes === undefined) throw this.#vscode.FileSystemError.FileNotFound(uri);
    return bytes;
  }

  async stat(uri: vscode.Uri): Promise<vscode.FileStat> {
    const { length } = await this.read(uri);
    // What an address names does not change.
    return { type: this.#vscode.FileType.File, ctime: 0, mtime: 0, size: length };
  }
}
