/**
 * Text that fits a line or is broken at the places it offers. A group is flat when it fits, else every line of its own
 * breaks; `alt` chooses by whether its group broke.
 */
export type Doc =
  | string
  | readonly Doc[]
  | { readonly kind: "line"; readonly flat: string }
  | { readonly kind: "nest" | "group"; readonly body: Doc }
  | { readonly kind: "alt"; readonly flat: Doc; readonly broken: Doc };

export const softLine: Doc = { kind: "line", flat: "" };
export const spaceLine: Doc = { kind: "line", flat: " " };
export const group = (body: Doc): Doc => ({ kind: "group", body });
export const nest = (body: Doc): Doc => ({ kind: "nest", body });
export const alt = (flat: Doc, broken: Doc): Doc => ({ kind: "alt", flat, broken });

export function joined(parts: readonly Doc[], between: Doc): Doc {
  return parts.flatMap((part, index) => (index === 0 ? [part] : [between, part]));
}

interface Page {
  readonly width: number;
  readonly indent: string;
}

/** Lines begin with `depth` indents. */
export function layout(doc: Doc, page: Page, depth: number): string {
  let out = "";
  let column = 0;
  const put = (text: string): void => {
    out += text;
    column += charsOf(text);
  };
  const walk = (one: Doc, at: number, broken: boolean): void => {
    if (typeof one === "string") put(one);
    else if (!("kind" in one)) for (const part of one) walk(part, at, broken);
    else if (one.kind === "line") {
      if (!broken) put(one.flat);
      else {
        out += `\n${page.indent.repeat(at)}`;
        column = at * page.indent.length;
      }
    } else if (one.kind === "nest") walk(one.body, at + 1, broken);
    else if (one.kind === "alt") walk(broken ? one.broken : one.flat, at, broken);
    else walk(one.body, at, column + charsOf(flatText(one.body)) > page.width);
  };
  put(page.indent.repeat(depth));
  walk(doc, depth, false);
  return out;
}

/** Code points, as width limits count them. */
function charsOf(text: string): number {
  return Array.from(text).length;
}

function flatText(doc: Doc): string {
  if (typeof doc === "string") return doc;
  if (!("kind" in doc)) return doc.map(flatText).join("");
  if (doc.kind === "line") return doc.flat;
  return flatText(doc.kind === "alt" ? doc.flat : doc.body);
}
