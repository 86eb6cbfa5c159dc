import { baseName } from "../base/paths.ts";
import { OrchError } from "../model/error.ts";
import { PersonaHead } from "../model/persona.ts";

/** A persona file as the caller read it; `project` marks a trusted addition of the repository. */
export interface PersonaSource {
  readonly path: string;
  readonly text: string;
  readonly project: boolean;
}

export interface Persona extends PersonaHead {
  /** The prompt: voice and task. What must never happen stands in rules, not here. */
  readonly body: string;
  readonly path: string;
  readonly project: boolean;
}

/**
 * Personas by file name without `.md`; a project's file takes the place of the installed one of the same name. README.md
 * is none. A file that cannot be read is named with its line and refused: nothing is guessed.
 */
export function loadPersonas(sources: readonly PersonaSource[]): ReadonlyMap<string, Persona> {
  const personas = new Map<string, Persona>();
  for (const source of sources.toSorted((a, b) => Number(a.project) - Number(b.project))) {
    const file = baseName(source.path);
    if (!file.endsWith(".md") || file === "README.md") continue;
    personas.set(file.slice(0, -3), readPersona(source));
  }
  return personas;
}

/** The persona of that name, or the refusal that says it is not installed. */
export function personaNamed(personas: ReadonlyMap<string, Persona>, name: string): Persona {
  const persona = personas.get(name);
  if (persona === undefined) throw invalid(`personas/${name}.md`, "it is missing", 1);
  return persona;
}

export function readPersona(source: PersonaSource): Persona {
  const lines = source.text.replace(/^\uFEFF/, "").split(/\r?\n/);
  if (lines[0]?.trim() !== "---") throw invalid(source.path, "it does not begin with a --- line and its head", 1);
  const end = lines.findIndex((line, at) => at > 0 && line.trim() === "---");
  if (end === -1) throw invalid(source.path, "its head does not end with a --- line", 1);
  const head: Record<string, string> = {};
  for (let at = 1; at < end; at += 1) {
    const line = lines[at] ?? "";
    if (line.trim() === "" || line.trimStart().startsWith("#")) continue;
    const [, key, value] = /^([A-Za-z][\w-]*)\s*:\s*(.*?)\s*$/.exec(line) ?? [];
    if (key === undefined || value === undefined)
      throw invalid(source.path, `not a "key: value" line: ${line.trim()}`, at + 1);
    if (Object.hasOwn(head, key)) throw invalid(source.path, `${key} stands twice`, at + 1);
    head[key] = value.replace(/^(["'])(.*)\1$/, "$2");
  }
  const parsed = PersonaHead.safeParse(head);
  if (!parsed.success) {
    const issue = parsed.error.issues[0];
    const key = String(issue?.path[0] ?? "");
    const at = lines.findIndex((line) => key !== "" && line.startsWith(`${key}`));
    throw invalid(
      source.path,
      `${key === "" ? "" : `${key}: `}${issue?.message ?? "wrong head"}`,
      at === -1 ? 1 : at + 1,
    );
  }
  const body = lines
    .slice(end + 1)
    .join("\n")
    .trim();
  if (body === "") throw invalid(source.path, "it has no text after its head", end + 1);
  return { ...parsed.data, body, path: source.path, project: source.project };
}

function invalid(path: string, why: string, line: number): OrchError {
  return new OrchError("persona.invalid", `${path}:${line}: ${why}`, { data: { path, line } });
}
