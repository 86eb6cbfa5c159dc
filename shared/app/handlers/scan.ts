import { count } from "../../base/lines.ts";
import { spaceFor } from "../../features/registry-space.ts";
import { type Scan, type ScannedFeature, scanSlices } from "../../features/scan.ts";
import { targetText } from "../../model/target.ts";
import type { Handler } from "../context.ts";
import type { HereContext } from "../known-feature.ts";
import { projectHere } from "../project-here.ts";
import { projectPacks } from "../project-packs.ts";

/** The document of `scan --json`. */
export interface ScanData {
  readonly domains: readonly { readonly name: string; readonly features: readonly ScanRow[] }[];
  readonly skipped: Scan["skipped"];
  /** The plain form of it all, for terminals. */
  readonly text: readonly string[];
}

export interface ScanRow {
  readonly target: string;
  readonly dir: string;
  readonly app?: string;
  readonly lang: string;
  readonly registered: boolean;
  readonly complete: boolean;
  readonly missing: readonly string[];
}

/** Slices by structure, grouped by domain; registered and unregistered are told apart. Changes nothing, runs nothing. */
export const scan: Handler<HereContext> = async (context, args, signal) => {
  const project = await projectHere(context);
  const space = args.app === undefined ? {} : { space: spaceFor(project, { app: args.app }) };
  const found = await scanSlices(
    {
      files: context.files,
      project,
      packs: await projectPacks(context),
      paths: await context.git.listFiles(),
      ...space,
    },
    signal,
  );
  const data = scanData(found);
  const rows = data.domains.flatMap(({ features }) => features);
  const unregistered = rows.filter(({ registered }) => !registered).length;
  const incomplete = rows.filter(({ complete }) => !complete).length;
  const parts = [
    `${count(rows.length, "feature")} in ${count(data.domains.length, "domain")}`,
    ...(unregistered === 0 ? [] : [`${unregistered} unregistered`]),
    ...(incomplete === 0 ? [] : [`${incomplete} incomplete`]),
    ...(data.skipped.length === 0 ? [] : [`${count(data.skipped.length, "folder")} not looked at`]),
  ];
  const next = [
    'orch new domain/Feature "what it does"',
    ...(rows.length === 0 ? [] : ['orch modify domain/Feature "what changes"']),
  ];
  return { ok: true, code: 0, summary: parts.join(", "), next, data };
};

function scanData(found: Scan): ScanData {
  const names = [...new Set(found.features.map(({ feature }) => feature.target.domain))];
  const domains = names.map((name) => ({
    name,
    features: found.features.filter(({ feature }) => feature.target.domain === name).map(rowOf),
  }));
  const rows = { domains, skipped: found.skipped };
  return { ...rows, text: linesOf(rows) };
}

function linesOf(data: Omit<ScanData, "text">): readonly string[] {
  const width = Math.max(0, ...data.domains.flatMap(({ features }) => features.map(({ target }) => target.length)));
  const lines = data.domains.flatMap(({ name, features }) => [
    name,
    ...features.map((row) => {
      const state = [
        row.registered ? "registered" : "unregistered",
        ...(row.complete ? [] : [`lacks ${row.missing.join(", ")}`]),
      ].join(", ");
      return `  ${row.target.padEnd(width)}  ${state}`;
    }),
  ]);
  return [...lines, ...data.skipped.map(({ path, why }) => `not looked at: ${path}: ${why}`)];
}

function rowOf({ feature, pack, registered, complete, missing }: ScannedFeature): ScanRow {
  return {
    target: targetText(feature.target),
    dir: feature.dir,
    ...(feature.app === undefined ? {} : { app: feature.app }),
    lang: pack.pack.lang,
    registered,
    complete,
    missing,
  };
}
