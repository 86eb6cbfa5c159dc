import { templateId } from "../../model/model-ids.ts";
import { type AbsPath, inRoot } from "../../base/paths.ts";
import { type LoadedPack, loadPacks } from "../../features/packs.ts";
import { filled } from "../../features/scaffold.ts";
import { parseSpec, specSection } from "../../features/spec.ts";
import { specFromReply, specFromTemplate, withMissingSections } from "../../features/spec-write.ts";
import type { Place } from "./refusal.ts";
import { OrchError } from "../../model/error.ts";
import { readJson } from "../../model/json-text.ts";
import { TemplateLanguage } from "../../model/template-language.ts";
import { zeroUsage } from "../../model/usage.ts";
import type { Files } from "../../ports/files.ts";
import type { Completion, Model, ModelRequest, ModelSubject } from "../../ports/model.ts";
import { casesOf } from "./examples.ts";
import { planOf } from "./plan.ts";
import { renderSlice, unfitNames } from "./render.ts";

/**
 * `builtin/template`: no model, a reader of tables. It writes the spec's form from the person's words, and code for
 * what the tables of a spec fully determine: formulas, lookups, limits, errors, with a test for each example and each
 * error. What is prose it refuses, row by row: it never fills in behaviour, and never writes down an example as an
 * answer.
 */
export interface TemplateDeps {
  readonly files: Files;
  readonly installRoot: AbsPath;
}

const mark = "builtin/template";
const writableRoles = ["schema", "handler", "controller", "tests"] as const;

export function createTemplateModel(deps: TemplateDeps): Model {
  let packs: Promise<readonly LoadedPack[]> | undefined;
  const load = (): Promise<readonly LoadedPack[]> =>
    (packs ??= loadPacks(deps.files, inRoot(deps.installRoot, "rules")));
  return {
    id: templateId,
    provider: "builtin",
    lane: "template",
    label: mark,
    async complete(request, signal) {
      signal.throwIfAborted();
      const { subject } = request;
      if (subject === undefined) return refused(["it was not told which feature this is about"]);
      const loaded = (await load()).find(({ pack }) => pack.lang === subject.pack.lang);
      if (request.role === "spec") return writeSpec(request, subject, loaded);
      if (request.role !== "implement")
        return refused([`it has no answer to ${request.role}: that takes a language model`]);
      return implement(deps, request, subject, loaded);
    },
  };
}

function writeSpec(request: ModelRequest, subject: ModelSubject, loaded: LoadedPack | undefined): Completion {
  const template = loaded?.templates["spec"];
  if (template === undefined) return refused([`the pack ${subject.pack.lang} has no template of spec.md`]);
  if (request.step > 1) return refused(["it has one spec for these words, and that was it"]);
  return ok(specInRequest(subject, template) ?? specFromTemplate(template, subject.target, subject.request));
}

/** A request that is a spec already (its tables are there) is kept as it is. */
function specInRequest(subject: ModelSubject, template: string): string | undefined {
  const given = parseSpec(subject.request);
  const tables = (["Inputs", "Outputs", "Examples"] as const).filter(
    (name) => specSection(given, name)?.table !== undefined,
  );
  if (tables.length < 2) return undefined;
  const titled = given.title === undefined ? `# ${subject.target.name}\n\n${subject.request}` : subject.request;
  const text = specFromReply(titled, subject.target);
  return text === undefined ? undefined : withMissingSections(text, template, subject.target).text;
}

async function implement(
  deps: TemplateDeps,
  request: ModelRequest,
  subject: ModelSubject,
  loaded: LoadedPack | undefined,
): Promise<Completion> {
  if (request.step > 1)
    return refused(["its first answer was its only one; the feedback needs a language model or a person"]);
  if (subject.spec === undefined) return refused(["there is no spec.md to read"]);
  const kit = await loadKit(deps, subject);
  if (kit === undefined) return refused([`it does not write ${subject.pack.title}`]);
  const written = ownWork(subject, loaded);
  if (written.length > 0) return refused(written.map((name) => `${name} holds work that it would overwrite`));
  const planned = planOf(subject.spec);
  if (planned.kind === "refused") return refused(planned.reasons, subject, planned.at);
  const names = unfitNames(planned.plan, kit.language);
  if (names.length > 0) return refused(names);
  const cases = casesOf(planned.spec, planned.plan);
  if (cases.kind === "refused") return refused(cases.reasons, subject, cases.at);
  const roles = writableRoles.filter(
    (role) => subject.pack.roles[role] !== undefined && (role !== "controller" || subject.controller),
  );
  const texts = renderSlice({ feature: subject.target.name, plan: planned.plan, cases: cases.cases, ...kit, roles });
  const files = Object.fromEntries(
    roles.flatMap((role) => (texts[role] === undefined ? [] : [[subject.pack.roles[role] ?? role, texts[role]]])),
  );
  return ok(JSON.stringify({ files, notes: `written by ${mark} from the tables of spec.md` }));
}

interface Kit {
  readonly language: TemplateLanguage;
  readonly templates: Readonly<Record<string, string>>;
}

/** @throws OrchError `rules.invalid` when language.json is broken */
async function loadKit({ files, installRoot }: TemplateDeps, { pack }: ModelSubject): Promise<Kit | undefined> {
  const folder = inRoot(installRoot, "rules", pack.lang, "template-worker");
  const text = await files.readText(inRoot(folder, "language.json"));
  if (text === undefined) return undefined;
  const read = readJson(text, TemplateLanguage);
  const path = `rules/${pack.lang}/template-worker/language.json`;
  if (read.kind === "bad")
    throw new OrchError("rules.invalid", `${path}:${read.fault.line}: ${read.fault.message}`, {
      data: { path, line: read.fault.line },
    });
  const templates: Record<string, string> = {};
  for (const role of writableRoles) {
    const name = pack.roles[role];
    const template = name === undefined ? undefined : await files.readText(inRoot(folder, name));
    if (template !== undefined) templates[role] = template;
  }
  return { language: read.value, templates };
}

/** Files of the slice that are neither the scaffold nor its own. */
function ownWork({ files, pack, target }: ModelSubject, loaded: LoadedPack | undefined): readonly string[] {
  const plain = (text: string): string => text.replaceAll("\r\n", "\n").trim();
  return writableRoles.flatMap((role) => {
    const name = pack.roles[role];
    const text = name === undefined ? undefined : files[name];
    if (name === undefined || text === undefined || plain(text) === "" || text.includes(`Written by ${mark}`))
      return [];
    const scaffold = filled(loaded?.templates[role] ?? "", { feature: target.name, domain: target.domain });
    return plain(text) === plain(scaffold) ? [] : [name];
  });
}

function ok(text: string): Completion {
  return { kind: "ok", text, model: templateId, usage: zeroUsage, label: mark };
}

function refused(reasons: readonly string[], subject?: ModelSubject, at?: Place): Completion {
  const error = new OrchError("template.refused", `${mark} does not do this: ${reasons.join("; ")}`, {
    data: subject === undefined || at === undefined ? {} : { path: `${subject.dir}/spec.md`, ...at },
  });
  return {
    kind: "failed",
    why: "refused",
    model: templateId,
    detail: reasons.join("; "),
    hint: error.hint,
    code: error.code,
  };
}
