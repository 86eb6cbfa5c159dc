import { tokenEnd } from "./flat-text.ts";

/** `Handler.handle(a).get("b")` as it is written: a root, and what is taken from it and called. */
export interface Chain {
  readonly root: string;
  /** Without arguments: `Handler.handle().get()`. */
  readonly text: string;
  readonly calls: readonly ChainCall[];
  /** The whole text that was looked at is this chain. */
  readonly alone: boolean;
}

export interface ChainCall {
  /** What is called, from the root: `Handler.handle().get`. */
  readonly callee: string;
  readonly args: readonly Chain[];
}

const word = /[\p{L}_$][\p{L}\p{N}_$]*/uy;
const member = /\s*[?!]?\.\s*#?([\p{L}_$][\p{L}\p{N}_$]*)/uy;
const generic = /<[\w\s,.|[\]]*>(?=\()/y;

/** Words that stand before a chain. */
const keyword =
  /^(?:new|await|async|return|yield|not|and|or|in|is|if|else|lambda|typeof|void|throw|raise|const|let|var|from|for)$/;

/** All chains of a piece of code, those in arguments within the call that they are given to. */
export function chainsIn(text: string): readonly Chain[] {
  const found: Chain[] = [];
  for (let at = 0; at < text.length;) {
    word.lastIndex = at;
    const root = word.exec(text)?.[0];
    if (root === undefined || /[\p{N}.]/u.test(text[at - 1] ?? "")) {
      at = root === undefined ? tokenEnd(text, at) : at + root.length;
      continue;
    }
    if (keyword.test(root)) {
      at += root.length;
      continue;
    }
    const { chain, end } = chainFrom(text, at, root);
    // A prefix of a string (`f"..."`) is no name, nor is that of an argument (`handle=3`).
    if (!/["'`]/.test(text[end] ?? "") && !/^\s*=(?![=>])/.test(text.slice(end, end + 8))) found.push(chain);
    at = end;
  }
  return found;
}

function chainFrom(text: string, start: number, root: string): { readonly chain: Chain; readonly end: number } {
  const calls: ChainCall[] = [];
  let path = root;
  let at = start + root.length;
  for (;;) {
    generic.lastIndex = at;
    at += generic.exec(text)?.[0].length ?? 0;
    const open = text[at];
    if (open === "(" || open === "[") {
      const end = closeOf(text, at);
      const args = chainsIn(text.slice(at + 1, end - 1));
      if (open === "(") calls.push({ callee: path, args });
      path += open === "(" ? "()" : "[]";
      at = end;
      continue;
    }
    member.lastIndex = at;
    const next = member.exec(text);
    if (next === null) break;
    path += `.${next[1]}`;
    at += next[0].length;
  }
  const before = text.slice(0, start).replace(/\b(?:await|new)\b|\(/g, "");
  const alone = before.trim() === "" && /^[\s);]*$/.test(text.slice(at));
  return { chain: { root, text: path, calls, alone }, end: at };
}

/** Behind the bracket that closes the one at `at`. */
function closeOf(text: string, at: number): number {
  let depth = 0;
  for (let here = at; here < text.length;) {
    const char = text[here] ?? "";
    if ("([{".includes(char)) depth += 1;
    if (")]}".includes(char)) depth -= 1;
    here = tokenEnd(text, here);
    if (depth === 0) return here;
  }
  return text.length;
}
