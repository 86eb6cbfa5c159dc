import { OrchError } from "../model/error.ts";
import type { FeaturesFile } from "../model/feature.ts";
import { type Target, noDomain, targetText } from "../model/target.ts";
import { holdsKeyword, nameProblem, nearMisses } from "./names.ts";

/**
 * Targets out of what people type, buffers and branches. Pure. A target is split on the first `/`; `features/`, the
 * features folder and `modify/` in front of it are stripped. Without a domain: a registered name, a keyword, `nodomain`.
 */
export interface ResolveFacts {
  /** Known features and keywords of the space the name is looked up in. */
  readonly file: Pick<FeaturesFile, "known_features" | "domain_keywords">;
  /** Folders that hold slices, relative to the root: the default one and those of the apps. */
  readonly featuresDirs: readonly string[];
  /** Names that are registered in several apps, with these; without a domain they say too little. */
  readonly several?: ReadonlyMap<string, readonly string[]>;
}

export interface Resolved {
  readonly target: Target;
  readonly by: "given" | "registered" | "keyword" | "default";
  /** What the matching keyword suggests to do next. Data of the repository: shown only when it names a command. */
  readonly action?: string;
}

/** Refuses with `target.invalid`. Says nothing about existence. */
export function resolveTarget(text: string, facts: ResolveFacts): Resolved {
  const slice = text.split(/[\\/]/).length > 3 ? targetOfPath(text.trim(), facts.featuresDirs) : undefined;
  if (slice !== undefined) return { target: slice, by: "given" };
  const { domain, name } = splitTarget(text, facts.featuresDirs);
  if (domain !== undefined) return { target: valid(text, domain, name), by: "given" };
  const apps = facts.several?.get(name);
  if (apps !== undefined) {
    throw new OrchError(
      "target.invalid",
      `${name} is in several apps (${apps.join(", ")}): name its domain, or one with --app`,
      { data: { target: text } },
    );
  }
  const registered = knownDomain(facts.file, name);
  if (registered !== undefined) return { target: valid(text, registered, name), by: "registered" };
  for (const [keyword, [keywordDomain, action]] of Object.entries(facts.file.domain_keywords)) {
    if (holdsKeyword(name, keyword)) return { target: valid(text, keywordDomain, name), by: "keyword", action };
  }
  return { target: valid(text, noDomain, name), by: "default" };
}

/** The domain a feature is registered with. Names like `constructor` are ordinary names here. */
export function knownDomain(file: Pick<FeaturesFile, "known_features">, name: string): string | undefined {
  return Object.hasOwn(file.known_features, name) ? file.known_features[name] : undefined;
}

/** Every registered feature as a target, in the file's order. */
export function knownTargets(file: Pick<FeaturesFile, "known_features">): readonly Target[] {
  return Object.entries(file.known_features).map(([name, domain]) => ({ domain, name }));
}

/** The target of a slice that holds `path` (a repository path: `features/Billing/Invoice/Schema.py`), or undefined. */
export function targetOfPath(path: string, featuresDirs: readonly string[]): Target | undefined {
  const clean = path.replaceAll("\\", "/").replace(/^(?:\.\/+)+/, "");
  for (const dir of longestFirst(featuresDirs)) {
    if (!clean.startsWith(`${dir}/`)) continue;
    const [domain = "", name = ""] = clean.slice(dir.length + 1).split("/");
    if (nameProblem(domain, name) === undefined) return { domain, name };
  }
  return undefined;
}

/** At most three targets that look like the wanted one: the whole target or the name alone may be near. */
export function nearTargets(wanted: Target, known: readonly Target[]): readonly string[] {
  const whole = nearMisses(targetText(wanted), known.map(targetText));
  const names = nearMisses(
    wanted.name,
    known.map(({ name }) => name),
  );
  const sameName = known.filter(({ domain, name }) => name === wanted.name && domain !== wanted.domain);
  const byName = known
    .filter(({ name }) => names.includes(name))
    .toSorted((a, b) => names.indexOf(a.name) - names.indexOf(b.name));
  return [...new Set([...sameName.map(targetText), ...whole, ...byName.map(targetText)])]
    .filter((text) => text !== targetText(wanted))
    .slice(0, 3);
}

/** The existing target that differs from `wanted` by case only (name, domain or both), or undefined. */
export function caseTwin(wanted: Target, known: readonly Target[]): Target | undefined {
  const same = (a: string, b: string): boolean => a.toLowerCase() === b.toLowerCase();
  return known.find(
    ({ domain, name }) =>
      (same(name, wanted.name) && name !== wanted.name) || (same(domain, wanted.domain) && domain !== wanted.domain),
  );
}

function splitTarget(
  text: string,
  featuresDirs: readonly string[],
): { readonly domain: string | undefined; readonly name: string } {
  let rest = text
    .trim()
    .replaceAll("\\", "/")
    .replace(/^(?:\.\/+)+/, "")
    .replace(/(?<=\/.*[^/])\/+$/, "");
  const prefixes = [...longestFirst([...featuresDirs, "features"]), "modify"];
  for (
    let prefix = prefixes.find((one) => rest.startsWith(`${one}/`));
    prefix !== undefined;
    prefix = prefixes.find((one) => rest.startsWith(`${one}/`))
  ) {
    rest = rest.slice(prefix.length + 1).replace(/^\/+/, "");
  }
  const at = rest.indexOf("/");
  return at === -1 ? { domain: undefined, name: rest } : { domain: rest.slice(0, at), name: rest.slice(at + 1) };
}

function longestFirst(dirs: readonly string[]): readonly string[] {
  return [...new Set(dirs)].toSorted((a, b) => b.length - a.length);
}

function valid(text: string, domain: string, name: string): Target {
  const problem = nameProblem(domain, name);
  if (problem !== undefined)
    throw new OrchError("target.invalid", `${JSON.stringify(text)} is no target: ${problem}`, {
      data: { target: text },
    });
  return { domain, name };
}
