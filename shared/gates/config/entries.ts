import { jsonPaths } from "../../model/json-paths.ts";

/** One setting of a configuration file: a path of names, its value, and the items of a list. */
export interface Entry {
  readonly path: string;
  readonly value: string;
  readonly items: readonly string[];
  readonly line: number;
}

type Reader = (text: string) => Entry[];

/** How a file of a name is read. Values are compared, not lines: a moved or re-indented setting is no change. */
const readers: readonly (readonly [RegExp, Reader])[] = [
  [/\.jsonc?$|^\.(?:eslintrc|babelrc|swcrc|nycrc|mocharc|stylelintrc|prettierrc|oxlintrc)$/, jsonPaths],
  [/\.ya?ml$/, yamlEntries],
  [/\.xml$/, xmlEntries],
  [/\.(?:toml|ini|cfg|conf)$|^\.(?:flake8|pylintrc|coveragerc|isort\.cfg|bandit)$|^Pipfile$/, sectionEntries],
  [/\.[cm]?[jt]s$|\.gradle(?:\.kts)?$|\.py$/, scriptEntries],
  [/^(?:GNU)?[Mm]akefile$|\.mk$|^[Jj]ustfile$/, recipeEntries],
  [/^\.\w+ignore$/, lineEntries],
];

export function entriesOf(path: string, text: string): Entry[] {
  const name = path.slice(path.lastIndexOf("/") + 1);
  const reader = readers.find(([pattern]) => pattern.test(name))?.[1];
  return reader === undefined ? [] : reader(text);
}

/** `[section]` and `key = value`; a value goes on while brackets are open or lines are indented. */
function sectionEntries(text: string): Entry[] {
  const found: Entry[] = [];
  let section = "";
  const lines = text.split("\n");
  for (let at = 0; at < lines.length; at += 1) {
    const line = lines[at] ?? "";
    const head = /^\s*\[\[?\s*([^\]]+?)\s*\]\]?\s*(?:[#;].*)?$/.exec(line);
    if (head) {
      section = (head[1] ?? "").replace(/["']/g, "");
      continue;
    }
    const pair = /^([A-Za-z_"'*][^=:#]*?)\s*[=:]\s*(.*)$/.exec(line);
    if (!pair) continue;
    const start = at;
    let value = pair[2] ?? "";
    while (at + 1 < lines.length && (isOpen(value) || /^\s+[^\s#;[]/.test(lines[at + 1] ?? ""))) {
      at += 1;
      value += `\n${lines[at]?.trim() ?? ""}`;
    }
    const name = (pair[1] ?? "").replace(/["']/g, "").trim();
    found.push(entry(section === "" ? name : `${section}.${name}`, value, start + 1));
  }
  return found;
}

function isOpen(value: string): boolean {
  const bare = value.replace(/"[^"\n]*"|'[^'\n]*'/g, "");
  return (bare.match(/[[{(]/g)?.length ?? 0) > (bare.match(/[\]})]/g)?.length ?? 0);
}

function entry(path: string, raw: string, line: number): Entry {
  const value = raw.replace(/\s+[#;]\s.*$/gm, "").trim();
  return { path, value: value.replace(/^(["'])([\s\S]*)\1$/, "$2"), items: itemsOf(value), line };
}

/** Items of a list: quoted ones, else what white space and commas part. */
function itemsOf(value: string): string[] {
  const quoted = [...value.matchAll(/"([^"\n]*)"|'([^'\n]*)'/g)].map((one) => one[1] ?? one[2] ?? "");
  if (quoted.length > 0 && /^[[({]/.test(value)) return quoted;
  return value.split(/[\s,]+/).filter((one) => one !== "" && !/^[[\](){}]+$/.test(one));
}

/** Keys by indentation, lists under their key: enough for settings. */
function yamlEntries(text: string): Entry[] {
  const found: (Entry & { readonly items: string[] })[] = [];
  const stack: { readonly indent: number; readonly name: string; readonly at: number }[] = [];
  for (const [index, line] of text.split("\n").entries()) {
    if (/^\s*(?:#|$)/.test(line)) continue;
    const indent = /^\s*/.exec(line)?.[0].length ?? 0;
    const item = /^\s*-\s+(.*)$/.exec(line);
    while (stack.length > 0 && (stack.at(-1)?.indent ?? 0) >= indent + (item ? 1 : 0)) stack.pop();
    const path = stack.map(({ name }) => name).join(".");
    const pair = /^([\w"'/.@*-]+)\s*:(?:\s+(.*))?$/.exec((item?.[1] ?? line).trim());
    if (item && !pair) found[stack.at(-1)?.at ?? -1]?.items.push((item[1] ?? "").replace(/^["']|["']$/g, ""));
    if (!pair) continue;
    const name = (pair[1] ?? "").replace(/["']/g, "");
    const value = (pair[2] ?? "").replace(/\s+#.*$/, "").replace(/^["']|["']$/g, "");
    stack.push({ indent: indent + (item ? 2 : 0), name, at: found.length });
    const full = path === "" ? name : `${path}.${name}`;
    found.push({ path: full, value, items: itemsOf(value), line: index + 1 });
  }
  return found;
}

function xmlEntries(text: string): Entry[] {
  return [...text.matchAll(/<([\w.-]+)>\s*([^<]*?)\s*<\/\1>/g)].map((match) => ({
    path: match[1] ?? "",
    value: match[2] ?? "",
    items: [match[2] ?? ""],
    line: text.slice(0, match.index).split("\n").length,
  }));
}

/** `key: value` and `key = value` of a configuration that is a program. */
function scriptEntries(text: string): Entry[] {
  const pairs = /(?<![\w.$])["']?([\w./@-]+)["']?\s*(?::|=(?![=>]))\s*("[^"\n]*"|'[^'\n]*'|\[[^\]]*\]|-?[\w.]+)/g;
  return [...text.matchAll(pairs)].map((match) => {
    const line = text.slice(0, match.index).split("\n").length;
    return entry(match[1] ?? "", match[2] ?? "", line);
  });
}

/** The recipe of each target, as one value. */
function recipeEntries(text: string): Entry[] {
  const found: Entry[] = [];
  let target = "";
  for (const [index, line] of text.split("\n").entries()) {
    const head = /^([\w./%-][^:=\n]*?)\s*:(?!=)\s*(.*)$/.exec(line);
    if (head && !/^\s/.test(line)) {
      target = head[1] ?? "";
      found.push({ path: `${target}.needs`, value: head[2] ?? "", items: [], line: index + 1 });
    } else if (/^\s+\S/.test(line) && target !== "") {
      found.push({ path: `${target}.recipe`, value: line.trim(), items: [], line: index + 1 });
    } else if (/^\.IGNORE\b/.test(line)) found.push({ path: ".IGNORE", value: line, items: [], line: index + 1 });
  }
  return found;
}

function lineEntries(text: string): Entry[] {
  return text
    .split("\n")
    .flatMap((line, at) =>
      line.trim() === "" || line.startsWith("#")
        ? []
        : [{ path: "ignored", value: line.trim(), items: [], line: at + 1 }],
    );
}
