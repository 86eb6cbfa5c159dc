/**
 * Variables that send the caches of Python's tools into the home of the check environment. In the tree they would be new
 * files of the next attempt, and a worker cannot take away what it did not make. pytest and the others hide their caches
 * from git by a file of their own, so that few projects ignore them.
 */
export function cachesAt(home: string | undefined, argv: readonly string[]): Record<string, string> {
  const quiet = { PYTHONDONTWRITEBYTECODE: "1" };
  if (home === undefined) return quiet;
  const at = (tool: string): string => `${home}/.cache/${tool}`;
  const own = {
    ...quiet,
    HYPOTHESIS_STORAGE_DIRECTORY: at("hypothesis"),
    MYPY_CACHE_DIR: at("mypy"),
    RUFF_CACHE_DIR: at("ruff"),
  };
  // Without its plugin pytest does not know the option, and a strict configuration makes that an error.
  if (argv.some((part) => part.includes("no:cacheprovider"))) return own;
  return { ...own, PYTEST_ADDOPTS: `-o ${quoted(`cache_dir=${at("pytest")}`)}` };
}

/** pytest splits the variable as a POSIX shell does, on every system. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`;
}
