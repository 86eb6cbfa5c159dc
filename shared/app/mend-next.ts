import { isInside } from "../base/paths.ts";
import type { Feature } from "../model/feature.ts";
import type { Finding } from "../model/finding.ts";
import { editCommand } from "./spec-next.ts";

/** Can `do` act on it? It writes the slice alone, and neither its spec nor what a person protected. */
export function isForDo(
  { path }: Finding,
  feature: Pick<Feature, "dir" | "spec">,
  marked: readonly string[] = [],
): boolean {
  return path === undefined || (isInside(path, feature.dir) && path !== feature.spec && !marked.includes(path));
}

/** What a person edits by hand, because `do` may not, each file once. */
export function editsByHand(
  findings: readonly Finding[],
  feature: Pick<Feature, "dir" | "spec">,
  marked: readonly string[] = [],
): readonly string[] {
  const paths = findings.flatMap((one) => (isForDo(one, feature, marked) ? [] : [one.path ?? ""]));
  return [...new Set(paths)].map((path) => editCommand(path));
}
