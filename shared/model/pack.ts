import * as z from "zod";

/** One way to start the pack's test program; the first whose conditions hold is used. */
export const PackRunner = z.strictObject({
  /** `{runner}` in test.argv is replaced by this argv. */
  argv: z.array(z.string()).min(1),
  /** Commands that must be on PATH. */
  commands: z.array(z.string()).default([]),
  /** Files that must exist, relative to the repository's root. */
  files: z.array(z.string()).default([]),
  platforms: z.array(z.enum(["posix", "win32"])).default(["posix", "win32"]),
  /** argv that must exit 0 before this runner is taken, e.g. `[".venv/bin/python", "-c", "import pytest"]`. */
  probe: z.array(z.string()).optional(),
});

function isPattern(text: string): boolean {
  try {
    return new RegExp(text) instanceof RegExp;
  } catch {
    return false;
  }
}

/** A plain file name: it is joined to a folder, so it may not leave it. */
const FileName = z.string().regex(/^(?!\.{1,2}$)[^/\\\0]{1,100}$/, "a plain file name, without folders");

/**
 * `rules/<lang>/pack.json`: a language as data. Placeholders in argv: `{runner}`, `{tests}` (the slice's Tests file,
 * relative to the root), `{dir}` (the slice), `{report}` (absolute path of the report to write). Values of `test.env`
 * may hold `{root}` (the tree the tests run in), `{tools}` (the checkout with the project's environment) and `{home}`
 * (the check environment's own home).
 */
export const Pack = z.strictObject({
  $schema: z.string().optional(),
  lang: z.string().regex(/^[a-z][a-z0-9]*$/),
  title: z.string(),
  extensions: z.array(z.string().regex(/^\.[a-z0-9.]+$/)).min(1),
  /** role -> file name in the slice. `schema`, `handler` and `tests` make a folder a slice. */
  roles: z
    .looseObject({ schema: FileName, handler: FileName, tests: FileName, controller: FileName.optional() })
    .and(z.record(z.string(), FileName)),
  /**
   * What a file of the slice may be called, without its extension and for each part of its path: a regular expression
   * over the whole part. Without it: the names that Python can import.
   */
  fileNames: z.string().refine(isPattern, "a regular expression").default("[A-Za-z_]\\w*(?:\\.[A-Za-z_]\\w*)*"),
  /** Roles a slice may lack: `controller` with --no-controller. */
  optional: z.array(z.string()).default([]),
  /** role -> template file in the pack's templates/ folder; `spec` is the template of spec.md. */
  templates: z.record(z.string(), FileName),
  test: z.strictObject({
    argv: z.array(z.string()).min(1),
    runners: z.array(PackRunner).min(1),
    report: z.enum(["junit"]),
    env: z.record(z.string(), z.string()).default({}),
    timeout_s: z.number().positive().default(300),
    /** What to install when no runner is there: shown to the person as it stands. */
    missing: z.string(),
  }),
  /** Name of the tree-sitter grammar, e.g. `python`. */
  grammar: z.string(),
  /**
   * Exact syntax check: `python-compile` is one python3 child for all files, `node-strip-types` the parser with which
   * Node strips types. Without it nothing is claimed about the syntax: a grammar's tree takes valid code for faulty.
   */
  syntaxCheck: z.enum(["python-compile", "node-strip-types"]).optional(),
  /** Root files of the constitution, named in the rules of the tree kind; listed here so that scope protects them. */
  rootFiles: z.array(z.string()).default([]),
  /** Files that say, at the root or in an app's folder, that the project is written in this language: `pyproject.toml`. */
  manifests: z.array(FileName).default([]),
});
export type Pack = z.infer<typeof Pack>;
export type PackRunner = z.infer<typeof PackRunner>;
