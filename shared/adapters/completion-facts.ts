import fs from "node:fs";
import path from "node:path";

/**
 * Names for completion, read straight from files: a person waits for a key press, so no git is started and no schema is
 * loaded. Nothing is decided by what is read here, nothing runs, and what cannot be read offers nothing.
 */
export interface CompletionFacts {
  /** Registered `domain/Feature`, and the domains. */
  features(): { readonly targets: readonly string[]; readonly domains: readonly string[] };
  /** Keys of `apps`. */
  apps(): readonly string[];
  branches(): readonly string[];
  /** Ids that `restore` takes. */
  trash(): readonly string[];
  /** Newest first, with the command each carries out. */
  runs(): readonly { readonly run: string; readonly command: string }[];
  /** Kept changes, `run/ID/attempt-N`, newest run first. */
  attempts(): readonly string[];
  /** Asked and not answered. */
  decisions(): readonly { readonly id: string; readonly title: string }[];
  /** Ids: of the files in .orch/contracts first, then of what runs worked on, newest run first. */
  contracts(): readonly string[];
  /** Of .orch/contracts, as they are typed in the folder of the command line. */
  contractFiles(): readonly string[];
  /** From model_config.json, model_chain.json and what `orch model --list` last saw. */
  models(): readonly string[];
  /** Of the person's and the project's config.json. */
  workers(): readonly string[];
}

export interface CompletionPlace {
  /** The folder of the command line, `-C` counted in. */
  readonly cwd: string;
  readonly configDir: string;
  readonly cacheDir: string;
  /** Where run folders of a repository at `root` are. */
  readonly runsDirs: (root: string) => readonly string[];
}

const maxFileBytes = 4 * 1024 * 1024;
const maxLooks = 30;
const maxNames = 500;

export function createCompletionFacts(place: CompletionPlace): CompletionFacts {
  const root = repositoryRoot(place.cwd);
  const runFolders = (): readonly { readonly run: string; readonly dir: string }[] =>
    (root === undefined ? [] : place.runsDirs(root))
      .flatMap((dir) => folders(dir).map((run) => ({ run, dir: path.join(dir, run) })))
      .filter(({ run }) => /^r-\d{8}-\d{6}-[a-z0-9]{4}$/.test(run))
      .toSorted((a, b) => (a.run < b.run ? 1 : -1))
      .slice(0, maxNames);
  return {
    features() {
      const known =
        root === undefined ? [] : registries(place.cwd, root).flatMap((file) => pairs(part(file, "known_features")));
      const keywords = root === undefined ? [] : registries(place.cwd, root).flatMap(keywordDomains);
      const domains = [...known.map(([, domain]) => domain), ...keywords];
      return { targets: unique(known.map(([name, domain]) => `${domain}/${name}`)), domains: unique(domains) };
    },
    apps: () =>
      root === undefined ? [] : unique(registries(place.cwd, root).flatMap((file) => keysOf(part(file, "apps")))),
    branches: () => (root === undefined ? [] : refs(root, "refs/heads/")),
    trash: () => (root === undefined ? [] : refs(root, "refs/orch/trash/")),
    runs: () =>
      runFolders().map(({ run, dir }) => ({
        run,
        command: word(part(json(path.join(dir, "request.json")), "command")),
      })),
    attempts: () =>
      runFolders()
        .slice(0, maxLooks)
        .flatMap(({ run, dir }) =>
          folders(dir).flatMap((id) =>
            folders(path.join(dir, id)).flatMap((name) => (/^attempt-\d+$/.test(name) ? [`${run}/${id}/${name}`] : [])),
          ),
        ),
    decisions: () =>
      runFolders()
        .slice(0, maxLooks)
        .flatMap(({ dir }) => pending(text(path.join(dir, "events.jsonl")) ?? "")),
    contracts: () =>
      unique([
        ...contractNames(root),
        ...runFolders()
          .slice(0, maxLooks)
          .flatMap(({ dir }) => tasksIn(dir)),
      ]),
    contractFiles: () =>
      root === undefined
        ? []
        : contractNames(root).map((name) =>
            path.relative(place.cwd, path.join(root, ".orch/contracts", `${name}.json`)).replaceAll(path.sep, "/"),
          ),
    models() {
      const chain = json(path.join(place.configDir, "model_chain.json"));
      const offered = json(path.join(place.cacheDir, "offered-models.json"));
      const lead = part(json(path.join(place.configDir, "model_config.json")), "model");
      return unique([lead, ...list(chain), ...list(offered)].filter((id): id is string => typeof id === "string"));
    },
    workers: () =>
      unique(
        [place.configDir, ...(root === undefined ? [] : [path.join(root, ".orch")])].flatMap((folder) =>
          keysOf(part(json(path.join(folder, "config.json")), "workers")),
        ),
      ),
  };
}

function contractNames(root: string | undefined): readonly string[] {
  if (root === undefined) return [];
  return entries(path.join(root, ".orch/contracts"))
    .flatMap((entry) => (entry.isFile() && entry.name.endsWith(".json") ? [entry.name.slice(0, -".json".length)] : []))
    .toSorted()
    .slice(0, maxNames);
}

/** Contracts that a run has attempts of. */
function tasksIn(dir: string): readonly string[] {
  return folders(dir).filter((id) => folders(path.join(dir, id)).some((name) => /^attempt-\d+$/.test(name)));
}

/** The nearest folder upwards that holds `.git`, a file in linked worktrees and submodules. */
function repositoryRoot(folder: string): string | undefined {
  for (let at = folder; ; at = path.dirname(at)) {
    if (fs.existsSync(path.join(at, ".git"))) return at;
    if (path.dirname(at) === at) return undefined;
  }
}

/** The nearest registry upwards, and the files its apps have of their own. */
function registries(from: string, root: string): readonly unknown[] {
  for (let at = from; ; at = path.dirname(at)) {
    const main = json(path.join(at, ".features.json"));
    if (main !== undefined) {
      const own = Object.values(record(part(main, "apps"))).flatMap((app) => {
        const config = part(app, "config");
        const inside = typeof config === "string" && config.endsWith(".features.json") && !config.includes("..");
        return inside ? [json(path.join(at, config))] : [];
      });
      return [main, ...own.filter((file) => file !== undefined)];
    }
    if (at === root || path.dirname(at) === at) return [];
  }
}

function keywordDomains(file: unknown): readonly string[] {
  return Object.values(record(part(file, "domain_keywords"))).flatMap((row) => {
    const [domain] = list(row);
    return typeof domain === "string" ? [domain] : [];
  });
}

/** Loose and packed; a repository that keeps its refs another way offers none. */
function refs(root: string, prefix: string): readonly string[] {
  const common = commonDir(root);
  if (common === undefined) return [];
  const packed = (text(path.join(common, "packed-refs")) ?? "").split("\n").flatMap((line) => {
    const name = /^[0-9a-f]{40,64} (\S+)$/.exec(line)?.[1];
    return name?.startsWith(prefix) === true ? [name.slice(prefix.length)] : [];
  });
  const loose = below(path.join(common, ...prefix.split("/").filter((name) => name !== "")), "");
  return unique([...loose, ...packed]).slice(0, maxNames);
}

function commonDir(root: string): string | undefined {
  const at = path.join(root, ".git");
  const link = /^gitdir: (.+)$/m.exec(text(at) ?? "")?.[1];
  const dir = link === undefined ? at : path.resolve(root, link.trim());
  const common = text(path.join(dir, "commondir"))?.trim();
  return common === undefined ? dir : path.resolve(dir, common);
}

function below(folder: string, prefix: string, depth = 0): readonly string[] {
  if (depth > 8) return [];
  return entries(folder).flatMap((entry) => {
    const name = `${prefix}${entry.name}`;
    if (entry.isDirectory()) return below(path.join(folder, entry.name), `${name}/`, depth + 1);
    return entry.isFile() && !entry.name.endsWith(".lock") ? [name] : [];
  });
}

function pending(log: string): readonly { readonly id: string; readonly title: string }[] {
  const open = new Map<string, string>();
  for (const line of log.split("\n")) {
    if (!/"(?:question|decision)\.(?:asked|answered)"|"command\.finished"|"run\.cancelled"/.test(line)) continue;
    const event = parsed(line);
    const type = word(part(event, "type"));
    if (type.endsWith(".asked")) open.set(word(part(event, "id")), word(part(event, "title")));
    else if (type.endsWith(".answered")) open.delete(word(part(event, "id")));
    else open.clear();
  }
  return [...open].map(([id, title]) => ({ id, title }));
}

// --- reading what may be anything ----------------------------------------------------------------------------------

function text(at: string): string | undefined {
  try {
    const stat = fs.statSync(at);
    return stat.isFile() && stat.size <= maxFileBytes ? fs.readFileSync(at, "utf8") : undefined;
  } catch {
    return undefined;
  }
}

function entries(folder: string): readonly fs.Dirent[] {
  try {
    return fs.readdirSync(folder, { withFileTypes: true }).slice(0, maxNames * 4);
  } catch {
    return [];
  }
}

const folders = (folder: string): readonly string[] =>
  entries(folder).flatMap((entry) => (entry.isDirectory() ? [entry.name] : []));

function json(at: string): unknown {
  const found = text(at);
  return found === undefined ? undefined : parsed(found);
}

function parsed(source: string): unknown {
  try {
    return JSON.parse(source.startsWith("\uFEFF") ? source.slice(1) : source);
  } catch {
    return undefined;
  }
}

const record = (value: unknown): Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value) ? { ...value } : {};
const part = (value: unknown, name: string): unknown => record(value)[name];
const list = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);
const word = (value: unknown): string => (typeof value === "string" ? value : "");
const keysOf = (value: unknown): readonly string[] => Object.keys(record(value));
const pairs = (value: unknown): readonly (readonly [string, string])[] =>
  Object.entries(record(value)).flatMap(([name, domain]) =>
    typeof domain === "string" ? [[name, domain] as const] : [],
  );
const unique = (names: readonly string[]): readonly string[] => [...new Set(names)].toSorted();
