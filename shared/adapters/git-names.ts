import type { RepoPath } from "../base/paths.ts";
import { OrchError } from "../model/error.ts";

/** A path as git prints it: relative, `/`, never `..`. On POSIX a backslash is a letter of the name. */
export function fromGit(text: string): RepoPath {
  return text.replace(/\/$/, "") as RepoPath;
}

/** Pieces between NUL bytes, decoded; bytes that are no UTF-8 become U+FFFD. */
export function nulFields(bytes: Uint8Array): string[] {
  const fields = new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes).split("\0");
  if (fields.at(-1) === "") fields.pop();
  return fields;
}

/** Pieces between NUL bytes as bytes. */
export function nulBytes(bytes: Uint8Array): Uint8Array[] {
  const out: Uint8Array[] = [];
  for (let at = 0; at < bytes.length;) {
    const end = bytes.indexOf(0, at);
    out.push(bytes.subarray(at, end === -1 ? bytes.length : end));
    at = end === -1 ? bytes.length : end + 1;
  }
  return out;
}

export function toNul(fields: readonly string[]): string {
  return fields.map((field) => `${field}\0`).join("");
}

/** A name that could be read as an option, or that git would refuse, never reaches git's argv. */
export function checkedBranch(name: string): string {
  const bad =
    name === "" ||
    name === "@" ||
    name === "HEAD" ||
    name.startsWith("-") ||
    name.startsWith("/") ||
    name.endsWith("/") ||
    name.endsWith(".") ||
    /\.\.|@\{|\/\/|[\u0000-\u0020\u007F~^:?*[\\]/.test(name) ||
    name.split("/").some((part) => part.startsWith(".") || part.endsWith(".lock"));
  if (bad) throw new OrchError("usage.invalid", `not a branch name: ${JSON.stringify(name)}`);
  return name;
}

export function checkedRef(ref: string): string {
  if (!ref.startsWith("refs/")) throw new OrchError("usage.invalid", `not a full ref name: ${JSON.stringify(ref)}`);
  checkedBranch(ref.slice(5));
  return ref;
}

/** A revision to resolve: anything but an option or a control character. */
export function checkedRevision(text: string): string {
  if (text === "" || text.startsWith("-") || /[\u0000-\u001F]/.test(text)) {
    throw new OrchError("usage.invalid", `not a revision: ${JSON.stringify(text)}`);
  }
  return text;
}

export function checkedRemote(name: string): string {
  if (!/^[A-Za-z0-9_.][A-Za-z0-9_./-]*$/.test(name))
    throw new OrchError("usage.invalid", `not a remote's name: ${JSON.stringify(name)}`);
  return name;
}
