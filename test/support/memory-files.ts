import { type AbsPath, absPath } from "../../shared/base/paths.ts";
import type { Files, FileStat } from "../../shared/ports/files.ts";

type Node =
  | { readonly kind: "file"; readonly data: Uint8Array }
  | { readonly kind: "directory" }
  | { readonly kind: "symlink"; readonly target: string };

/** Files in memory: paths with `/`, folders made by what lies in them, links followed. */
export class MemoryFiles implements Files {
  readonly #nodes = new Map<string, Node>();
  /** Called before each write with its path: where a test lets somebody else write in between. */
  beforeWrite: (path: string) => void = () => undefined;

  constructor(texts: Readonly<Record<string, string>> = {}) {
    for (const [path, text] of Object.entries(texts)) this.put(path, text);
  }

  put(path: string, data: string | Uint8Array): void {
    this.#folders(path);
    this.#nodes.set(path, { kind: "file", data: typeof data === "string" ? new TextEncoder().encode(data) : data });
  }

  text(path: string): string | undefined {
    const node = this.#nodes.get(path);
    return node?.kind === "file" ? new TextDecoder("utf-8", { ignoreBOM: true }).decode(node.data) : undefined;
  }

  /** Every file's path, sorted. */
  paths(): readonly string[] {
    return [...this.#nodes].flatMap(([path, { kind }]) => (kind === "directory" ? [] : [path])).toSorted();
  }

  read(path: AbsPath): Promise<Uint8Array | undefined> {
    const node = this.#nodes.get(this.#real(path) ?? path);
    return Promise.resolve(node?.kind === "file" ? node.data : undefined);
  }

  async readText(path: AbsPath): Promise<string | undefined> {
    const data = await this.read(path);
    return data === undefined ? undefined : new TextDecoder("utf-8", { ignoreBOM: true }).decode(data);
  }

  stat(path: AbsPath): Promise<FileStat | undefined> {
    const node = this.#nodes.get(this.#realParent(path) ?? path);
    if (node === undefined) return Promise.resolve(undefined);
    return Promise.resolve({
      kind: node.kind,
      sizeBytes: node.kind === "file" ? node.data.length : 0,
      mode: 0o644,
      mtimeMs: 0,
    });
  }

  list(path: AbsPath): Promise<readonly { readonly name: string; readonly kind: FileStat["kind"] }[] | undefined> {
    const real = this.#real(path);
    if (real === undefined || this.#nodes.get(real)?.kind !== "directory") return Promise.resolve(undefined);
    const children = [...this.#nodes].filter(
      ([one]) => one.startsWith(`${real}/`) && !one.slice(real.length + 1).includes("/"),
    );
    return Promise.resolve(
      children
        .map(([one, { kind }]) => ({ name: one.slice(real.length + 1), kind }))
        .toSorted((a, b) => (a.name < b.name ? -1 : 1)),
    );
  }

  realPath(path: AbsPath): Promise<AbsPath | undefined> {
    const real = this.#real(path);
    return Promise.resolve(real === undefined || !this.#nodes.has(real) ? undefined : absPath(real));
  }

  write(path: AbsPath, data: string | Uint8Array): Promise<void> {
    this.beforeWrite(path);
    this.put(this.#real(path) ?? path, data);
    return Promise.resolve();
  }

  createOnce(path: AbsPath, data: string | Uint8Array): Promise<boolean> {
    this.beforeWrite(path);
    if (this.#nodes.has(path)) return Promise.resolve(false);
    this.put(path, data);
    return Promise.resolve(true);
  }

  makeDir(path: AbsPath): Promise<void> {
    this.#folders(`${path}/x`);
    return Promise.resolve();
  }

  remove(path: AbsPath): Promise<void> {
    for (const one of this.#nodes.keys()) if (one === path || one.startsWith(`${path}/`)) this.#nodes.delete(one);
    return Promise.resolve();
  }

  async removeEmptyDir(path: AbsPath): Promise<boolean> {
    const names = await this.list(path);
    return names?.length === 0 && this.#nodes.delete(path);
  }

  rename(from: AbsPath, to: AbsPath): Promise<void> {
    for (const [one, node] of this.#nodes) {
      if (one !== from && !one.startsWith(`${from}/`)) continue;
      this.#nodes.delete(one);
      this.#nodes.set(to + one.slice(from.length), node);
    }
    return Promise.resolve();
  }

  symlink(target: string, at: AbsPath): Promise<void> {
    this.#folders(at);
    this.#nodes.set(at, { kind: "symlink", target });
    return Promise.resolve();
  }

  async linkFolder(folder: AbsPath, at: AbsPath): Promise<boolean> {
    if (this.#nodes.has(at)) return false;
    await this.symlink(folder, at);
    return true;
  }

  readLink(path: AbsPath): Promise<string | undefined> {
    const node = this.#nodes.get(path);
    return Promise.resolve(node?.kind === "symlink" ? node.target : undefined);
  }

  chmod(): Promise<void> {
    return Promise.resolve();
  }

  #folders(path: string): void {
    const parts = path.split("/");
    for (let at = 2; at < parts.length; at += 1) {
      const folder = parts.slice(0, at).join("/");
      if (!this.#nodes.has(folder)) this.#nodes.set(folder, { kind: "directory" });
    }
  }

  #real(path: string): string | undefined {
    let real = "";
    const parts = path.split("/").slice(1);
    for (let hops = 0; parts.length > 0;) {
      const part = parts.shift();
      if (part === "" || part === "." || part === undefined) continue;
      if (part === "..") {
        real = real.slice(0, real.lastIndexOf("/"));
        continue;
      }
      const next = `${real}/${part}`;
      const node = this.#nodes.get(next);
      if (node?.kind !== "symlink") {
        real = next;
        continue;
      }
      hops += 1;
      if (hops > 40) return undefined;
      if (node.target.startsWith("/")) real = "";
      parts.unshift(...node.target.split("/"));
    }
    return real;
  }

  #realParent(path: string): string | undefined {
    const at = path.lastIndexOf("/");
    const parent = this.#real(path.slice(0, at));
    return parent === undefined ? undefined : `${parent}${path.slice(at)}`;
  }
}
