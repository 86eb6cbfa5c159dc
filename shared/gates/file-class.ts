import { globMatcher } from "../base/paths.ts";
import { isTestPath } from "../model/test-path.ts";

/**
 * Files that a glob never permits, because a change there changes what is judged, what is run, or what is trusted. A
 * contract that names such a file exactly may touch it. One table, first match wins; a path has one class at most.
 */
interface ClassRow {
  readonly rule: string;
  readonly what: string;
  readonly globs: readonly string[];
  readonly names?: RegExp;
}

const fileClasses = [
  {
    rule: "git_meta_touched",
    what: "git's own files",
    globs: [
      "**/.git",
      "**/.git/**",
      "**/.gitmodules",
      "**/.gitattributes",
      "**/.gitignore",
      "**/.mailmap",
      "**/.githooks/**",
      "**/.husky/**",
    ],
    names: /^(?:\.pre-commit-config\.ya?ml|lefthook\.ya?ml)$/,
  },
  {
    rule: "agent_config_touched",
    what: "configuration of agents or editors",
    globs: [
      "**/.orch/**",
      "**/.agents/**",
      "**/.claude/**",
      "**/.cursor/**",
      "**/.codex/**",
      "**/.gemini/**",
      "**/.pi/**",
      "**/.opencode/**",
      "**/.cline/**",
      "**/.roo/**",
      "**/.windsurf/**",
      "**/.vscode/**",
      "**/.idea/**",
      "**/.nvim/**",
      "**/*.code-workspace",
    ],
    names:
      /^(?:AGENTS|CLAUDE|GEMINI|COPILOT)\.md$|^\.?mcp\.json$|^\.(?:cursorrules|clinerules|windsurfrules|aider.*|exrc|nvimrc|nvim\.lua|envrc|orchignore)$|^copilot-instructions\.md$/,
  },
  {
    rule: "ci_touched",
    what: "continuous integration",
    globs: [
      "**/.github/**",
      "**/.gitlab/**",
      "**/.circleci/**",
      "**/.buildkite/**",
      "**/.woodpecker/**",
      "**/.forgejo/**",
    ],
    names:
      /^(?:\.gitlab-ci\.ya?ml|\.travis\.ya?ml|azure-pipelines\.ya?ml|Jenkinsfile|bitbucket-pipelines\.ya?ml|\.drone\.ya?ml|appveyor\.ya?ml)$/,
  },
  {
    rule: "manifest_touched",
    what: "a dependency manifest or lock file",
    globs: [],
    names:
      /^(?:pyproject\.toml|setup\.(?:py|cfg)|requirements[^/]*\.(?:txt|in)|constraints[^/]*\.txt|Pipfile(?:\.lock)?|poetry\.lock|uv\.lock|pdm\.lock|environment\.ya?ml|\.python-version|package(?:-lock)?\.json|npm-shrinkwrap\.json|yarn\.lock|pnpm-lock\.yaml|pnpm-workspace\.yaml|bun\.lockb?|deno\.jsonc?|deno\.lock|Cargo\.(?:toml|lock)|go\.(?:mod|sum|work)|Gemfile(?:\.lock)?|composer\.(?:json|lock)|pom\.xml|build\.gradle(?:\.kts)?|settings\.gradle(?:\.kts)?|mix\.(?:exs|lock)|\.npmrc|\.yarnrc(?:\.yml)?|pip\.conf)$/,
  },
  {
    rule: "test_config_touched",
    what: "configuration of the tests",
    globs: [],
    names:
      /^(?:pytest\.ini|\.pytest\.ini|tox\.ini|noxfile\.py|conftest\.py|\.coveragerc|sitecustomize\.py|usercustomize\.py|(?:vitest|jest|playwright|karma|cypress)\.(?:config|workspace)\.[cm]?[jt]s|\.mocharc\.[a-z]+|jest\.setup\.[jt]s)$|\.pth$/,
  },
  {
    rule: "lint_config_touched",
    what: "configuration of linters or types",
    globs: [],
    names:
      /^(?:ruff\.toml|\.ruff\.toml|\.flake8|mypy\.ini|\.mypy\.ini|pyrightconfig\.json|\.pylintrc|\.isort\.cfg|\.eslintrc.*|eslint\.config\.[cm]?[jt]s|biome\.jsonc?|\.oxlintrc\.json|tsconfig.*\.json|\.editorconfig|\.prettierrc.*|rustfmt\.toml|clippy\.toml|\.golangci\.ya?ml)$/,
  },
] as const satisfies readonly ClassRow[];

const compiled = fileClasses.map((row: ClassRow) => ({ row, inGlobs: globMatcher(row.globs) }));

/** The class of a path, or undefined for plain source, data and text. */
export function classOf(path: string): { readonly rule: string; readonly what: string } | undefined {
  const name = path.slice(path.lastIndexOf("/") + 1);
  return compiled.find(({ row, inGlobs }) => inGlobs(path) || row.names?.test(name) === true)?.row;
}

/** A test, a snapshot or golden data: an existing one is what the work is measured by. */
export function isMeasure(path: string): boolean {
  return isTestPath(path) || /\.snap$|(?:^|\/)(?:golden|goldens|snapshots|cassettes)\//.test(path);
}
