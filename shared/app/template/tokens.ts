/** Words of a cell: numbers, quoted texts, names with their `[].field`, and signs. */
export interface Token {
  readonly kind: "number" | "percent" | "text" | "name" | "sign" | "end";
  readonly text: string;
  readonly at: number;
}

const pattern =
  /\s*(?:(?<percent>\d+(?:\.\d+)?%(?!\s*(?:[(.]|(?!(?:else|otherwise|then|if|and|or|to)\b)\w)))|(?<number>\d+(?:\.\d+)?(?!\w))|"(?<double>[^"]*)"|'(?<single>[^']*)'|(?<name>[A-Za-z_]\w*(?:\[\](?:\.[A-Za-z_]\w*)?)?)|(?<sign><=|>=|==|!=|<>|->|\.\.|[-+*/%=<>()[\],;:{}\u2264\u2265\u2260\u00D7\u00F7\u00B7\u2192\u2212]))/y;

const plain: Readonly<Record<string, string>> = {
  "==": "=",
  "<>": "!=",
  "\u2264": "<=",
  "\u2265": ">=",
  "\u2260": "!=",
  "\u00D7": "*",
  "\u00B7": "*",
  "\u00F7": "/",
  "\u2192": "->",
  "\u2212": "-",
};

/** undefined when the text holds a sign that no formula has. */
export function tokensOf(text: string): readonly Token[] | undefined {
  const source = text.replaceAll("`", "").trimEnd().replace(/\.$/, "");
  const tokens: Token[] = [];
  const next = new RegExp(pattern);
  while (next.lastIndex < source.length) {
    const at = next.lastIndex;
    const groups = next.exec(source)?.groups;
    if (groups === undefined) return undefined;
    const { percent, number, double, single, name, sign } = groups;
    if (percent !== undefined) tokens.push({ kind: "percent", text: percent.slice(0, -1), at });
    else if (number !== undefined) tokens.push({ kind: "number", text: number, at });
    else if (name !== undefined) tokens.push({ kind: "name", text: name, at });
    else if (sign !== undefined) tokens.push({ kind: "sign", text: plain[sign] ?? sign, at });
    else tokens.push({ kind: "text", text: double ?? single ?? "", at });
  }
  return [...tokens, { kind: "end", text: "the end", at: source.length }];
}
