import { type RepoPath, repoPath } from "../base/paths.ts";
import type { Feature } from "../model/feature.ts";
import { type LoadedPack, roleFiles } from "./packs.ts";

/**
 * The files of a new slice, from the pack's templates. They claim nothing that is not so: the handler says that it is not
 * implemented, and the Tests file holds no test, which no gate takes for green, so that `do` has to write them.
 */
export interface ScaffoldFile {
  readonly role: string;
  readonly path: RepoPath;
  readonly text: string;
}

/** Pure. spec.md is not among them: features/spec.ts writes it. Schema, handler and tests come first. */
export function scaffoldFiles(
  loaded: LoadedPack,
  feature: Feature,
  options: { readonly controller: boolean },
): readonly ScaffoldFile[] {
  return roleFiles(loaded.pack).flatMap(({ role, name }) => {
    const template = loaded.templates[role];
    const path = repoPath(`${feature.dir}/${name}`);
    if (template === undefined || path === undefined || (role === "controller" && !options.controller)) return [];
    return [{ role, path, text: filled(template, { feature: feature.target.name, domain: feature.target.domain }) }];
  });
}

/** True while the slice's handler is the template: nobody has implemented it. */
export function isScaffold(loaded: LoadedPack, feature: Feature, handlerText: string): boolean {
  const template = loaded.templates["handler"];
  if (template === undefined) return false;
  const plain = (text: string): string => text.replaceAll("\r\n", "\n").trim();
  return (
    plain(handlerText) === plain(filled(template, { feature: feature.target.name, domain: feature.target.domain }))
  );
}

/** `{{name}}` becomes the value of that name; values are not looked into again. */
export function filled(template: string, values: Readonly<Record<string, string>>): string {
  return template.replace(/\{\{([a-z]+)\}\}/g, (whole, name: string) =>
    Object.hasOwn(values, name) ? (values[name] ?? whole) : whole,
  );
}
