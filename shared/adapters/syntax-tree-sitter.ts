import { existsSync, readFileSync } from "node:fs";
import type * as treeSitter from "web-tree-sitter";
import type { Language, Node, Parser, Query, QueryMatch as TreeMatch, Tree } from "web-tree-sitter";
import { type AbsPath, inRoot } from "../base/paths.ts";
import type {
  BrokenQuery,
  Capture,
  Matcher,
  MatcherResult,
  ParsedText,
  QueryMatch,
  QuerySource,
  Syntax,
  SyntaxFault,
  SyntaxNode,
} from "../ports/syntax.ts";

type Runtime = typeof treeSitter;

/**
 * Port syntax over web-tree-sitter. The runtime (about 0.1 s) and each grammar are loaded when first asked for, from
 * `node_modules` in a checkout and from `dist/wasm` in a package. All queries of a language run as one: ten queries
 * would be ten walks of the tree.
 */
export function createTreeSitterSyntax(installRoot: AbsPath): Syntax {
  let runtime: Promise<Runtime> | undefined;
  const grammars = new Map<string, Promise<Language | undefined>>();
  return {
    async matcher(grammar, queries, uses): Promise<MatcherResult> {
      if (!/^[a-z][a-z0-9-]*$/.test(grammar)) return { kind: "missing", why: `no grammar has the name ${grammar}` };
      runtime ??= loadRuntime(installRoot);
      const tree = await runtime;
      let language = grammars.get(grammar);
      if (!language) {
        language = loadGrammar(tree, installRoot, grammar);
        grammars.set(grammar, language);
      }
      const loaded = await language;
      if (!loaded) return { kind: "missing", why: `the grammar ${grammar} is not installed` };
      const main = combine(tree, loaded, queries);
      const used = combine(tree, loaded, uses);
      return {
        kind: "ready",
        matcher: createMatcher(tree, loaded, main, used),
        broken: [...main.broken, ...used.broken],
      };
    },
  };
}

async function loadRuntime(installRoot: AbsPath): Promise<Runtime> {
  const tree = await import("web-tree-sitter");
  const file = findFile(installRoot, "web-tree-sitter", "web-tree-sitter.wasm");
  if (!file) throw new Error("web-tree-sitter.wasm is missing from the installation");
  await tree.Parser.init({ wasmBinary: readFileSync(file) });
  return tree;
}

async function loadGrammar(tree: Runtime, installRoot: AbsPath, grammar: string): Promise<Language | undefined> {
  const file = findFile(installRoot, "@vscode/tree-sitter-wasm/wasm", `tree-sitter-${grammar}.wasm`);
  return file ? await tree.Language.load(readFileSync(file)) : undefined;
}

function findFile(installRoot: AbsPath, folder: string, name: string): AbsPath | undefined {
  return [inRoot(installRoot, "node_modules", folder, name), inRoot(installRoot, "dist/wasm", name)].find((file) =>
    existsSync(file),
  );
}

/** One compiled query, and for each of its patterns what it belongs to and what else must hold. */
interface Combined {
  readonly query: Query | undefined;
  readonly ids: readonly string[];
  readonly around: readonly (readonly AroundPredicate[])[];
  readonly broken: readonly BrokenQuery[];
}

interface AroundPredicate {
  readonly capture: string;
  readonly types: ReadonlySet<string>;
  readonly wanted: boolean;
}

/** Compiling is most of a thread's start, so all of it is tried as one text first, and only a fault is looked for piece by piece. */
function combine(tree: Runtime, language: Language, sources: readonly QuerySource[]): Combined {
  const none: Combined = { query: undefined, ids: [], around: [], broken: [] };
  if (sources.length === 0) return none;
  try {
    return asOne(tree, language, sources);
  } catch {
    const broken: BrokenQuery[] = [];
    const good = sources.filter((source) => {
      try {
        asOne(tree, language, [source]).query?.delete();
        return true;
      } catch (error) {
        broken.push(brokenQuery(source, error));
        return false;
      }
    });
    return { ...(good.length === 0 ? none : asOne(tree, language, good)), broken };
  }
}

function asOne(tree: Runtime, language: Language, sources: readonly QuerySource[]): Combined {
  const query = new tree.Query(language, sources.map(({ text }) => text).join("\n"));
  const ids: string[] = [];
  let end = 0;
  const ends = sources.map(({ text }) => (end += Buffer.byteLength(text) + 1));
  for (let index = 0; index < query.patternCount(); index += 1) {
    const start = query.startIndexForPattern(index);
    ids.push(sources[ends.findIndex((one) => start < one)]?.id ?? "");
  }
  const around = ids.map((_, index) => aroundOf(query, index));
  return { query, ids, around, broken: [] };
}

/** Throws for a predicate that nothing here knows: a rule must not silently mean less than it says. */
function aroundOf(query: Query, pattern: number): AroundPredicate[] {
  return query.predicatesForPattern(pattern).map(({ operator, operands }) => {
    if (operator !== "inside?" && operator !== "not-inside?") throw new Error(`unknown predicate #${operator}`);
    const [first, ...rest] = operands;
    if (first?.type !== "capture" || rest.length === 0) throw new Error(`#${operator} takes a capture and node types`);
    const types = rest.map((step) => (step.type === "string" ? step.value : step.name));
    return { capture: first.name, types: new Set(types), wanted: operator === "inside?" };
  });
}

function brokenQuery({ id, text }: QuerySource, error: unknown): BrokenQuery {
  const index =
    typeof error === "object" && error !== null && "index" in error && typeof error.index === "number"
      ? error.index
      : 0;
  const before = text.slice(0, index);
  return {
    id,
    line: before.split("\n").length,
    column: index - before.lastIndexOf("\n"),
    reason: error instanceof Error ? error.message.replace(/\s+/g, " ") : "does not compile",
  };
}

function createMatcher(tree: Runtime, language: Language, main: Combined, uses: Combined): Matcher {
  const parser = new tree.Parser();
  parser.setLanguage(language);
  const types = new Map<number, NodeType>();
  return {
    parse(text, timeoutMs) {
      const parsed = parseWithin(parser, text, timeoutMs);
      return parsed ? createParsed(parsed, main, uses, types) : undefined;
    },
    [Symbol.dispose]() {
      main.query?.delete();
      uses.query?.delete();
      parser.delete();
    },
  };
}

function parseWithin(parser: Parser, text: string, timeoutMs: number): Tree | undefined {
  const deadline = performance.now() + timeoutMs;
  let late = false;
  // The runtime stops when this answers true; its types say that it answers nothing.
  const progressCallback = (): boolean => {
    late ||= performance.now() > deadline;
    return late;
  };
  const tree = parser.parse(text, null, { progressCallback });
  if (tree && !late) return tree;
  tree?.delete();
  parser.reset();
  return undefined;
}

function createParsed(tree: Tree, main: Combined, uses: Combined, types: Map<number, NodeType>): ParsedText {
  return {
    matches: () => (main.query ? main.query.matches(tree.rootNode).flatMap((match) => matchOf(match, main)) : []),
    usesIn: (start, end) =>
      uses.query
        ? uses.query
            .matches(tree.rootNode, { startIndex: start, endIndex: end })
            .flatMap((match) => matchOf(match, uses))
        : [],
    tree: () => copyOf(tree, types),
    faults: (most) => faultsOf(tree, most),
    [Symbol.dispose]: () => tree.delete(),
  };
}

function matchOf({ patternIndex, captures }: TreeMatch, { ids, around }: Combined): QueryMatch[] {
  const holds = (around[patternIndex] ?? []).every(({ capture, types, wanted }) => {
    const node = captures.find(({ name }) => name === capture)?.node;
    return node !== undefined && isInside(node, types) === wanted;
  });
  if (!holds) return [];
  return [{ query: ids[patternIndex] ?? "", captures: captures.map(({ name, node }) => captureOf(name, node)) }];
}

function isInside(node: Node, types: ReadonlySet<string>): boolean {
  for (let up = node.parent; up; up = up.parent) if (types.has(up.type)) return true;
  return false;
}

function captureOf(name: string, node: Node): Capture {
  const { row, column } = node.startPosition;
  return { name, type: node.type, start: node.startIndex, end: node.endIndex, line: row + 1, column: column + 1 };
}

interface Copy extends SyntaxNode {
  readonly children: Copy[];
}

/** What a language says of a node's type, by the number the runtime gives it: asking costs a call each. */
interface NodeType {
  readonly type: string;
  readonly named: boolean;
}

/**
 * By a cursor, without recursion: a generated file may be nested deeper than the stack. Nodes are many, so each is made
 * with the same properties in the same order, and the runtime is asked for no more than four of them.
 */
function copyOf(tree: Tree, types: Map<number, NodeType>): SyntaxNode {
  const cursor = tree.walk();
  const { fields } = tree.language;
  const here = (parent: Copy | undefined): Copy => {
    const id = cursor.nodeTypeId;
    let known = types.get(id);
    if (known === undefined) {
      known = { type: cursor.nodeType, named: cursor.nodeIsNamed };
      types.set(id, known);
    }
    return {
      type: known.type,
      named: known.named,
      start: cursor.startIndex,
      end: cursor.endIndex,
      children: [],
      field: fields[cursor.currentFieldId] ?? undefined,
      parent,
    };
  };
  const root = here(undefined);
  let parent = root;
  let deeper = cursor.gotoFirstChild();
  while (deeper) {
    const node = here(parent);
    parent.children.push(node);
    if (cursor.gotoFirstChild()) {
      parent = node;
      continue;
    }
    while (!cursor.gotoNextSibling()) {
      if (!cursor.gotoParent() || parent === root) {
        deeper = false;
        break;
      }
      parent = (parent.parent ?? root) as Copy;
    }
  }
  cursor.delete();
  return root;
}

function faultsOf(tree: Tree, most: number): SyntaxFault[] {
  const faults: SyntaxFault[] = [];
  if (!tree.rootNode.hasError) return faults;
  const cursor = tree.walk();
  const visit = (): void => {
    const node = cursor.currentNode;
    if (node.isError || node.isMissing) {
      const { row, column } = node.startPosition;
      const message = node.isMissing ? `missing ${node.type}` : "not valid here";
      faults.push({ line: row + 1, column: column + 1, message });
      return;
    }
    if (!node.hasError || !cursor.gotoFirstChild()) return;
    do visit();
    while (faults.length < most && cursor.gotoNextSibling());
    cursor.gotoParent();
  };
  visit();
  cursor.delete();
  return faults;
}
