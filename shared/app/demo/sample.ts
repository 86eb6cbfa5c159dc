/**
 * The sample project: a corner shop's back office, as a person would have it before the first feature. Path -> text.
 */
export const sampleName = "corner-shop";

const constitution = (version: string, manifest: string): string => `# Corner shop: constitution

1. The interpreter's version is pinned in ${version}.
2. ${manifest} is the one manifest.
3. There is no second dependency manifest.
4. The project uses one date-time library.
5. Logging goes through the project's shared logger.
6. Comments explain why, or are absent.
7. No secret stands in source.
8. No emoji stands in source.
9. Signatures are typed.
10. The Tests file holds the unit tests of its slice.
11. The files of a slice are all there.
`;

export const sampleFiles: Readonly<Record<string, string>> = {
  "AGENTS.md": constitution(".python-version", "pyproject.toml"),
  ".python-version": "3\n",
  "pyproject.toml": `[project]
name = "corner-shop"
version = "0.1.0"
description = "Back office of a corner shop"
requires-python = ">=3.9"
dependencies = []
`,
  ".gitignore": `.venv/
__pycache__/
.pytest_cache/
`,
};

export const typescriptSampleFiles: Readonly<Record<string, string>> = {
  "AGENTS.md": constitution(".nvmrc", "package.json"),
  ".nvmrc": "24\n",
  "package.json": `{
  "name": "corner-shop",
  "version": "0.1.0",
  "description": "Back office of a corner shop",
  "private": true,
  "type": "module"
}
`,
  "tsconfig.json": `{
  "compilerOptions": {
    "target": "es2024",
    "module": "nodenext",
    "strict": true,
    "erasableSyntaxOnly": true,
    "allowImportingTsExtensions": true,
    "noEmit": true
  }
}
`,
  ".gitignore": "node_modules/\n",
};
