/**
 * What programs write for themselves, by name: caches, reports, installed packages. Nobody misses it, and runs of tests
 * change it all the time.
 */
const ownFolders =
  /(?:^|\/)(?:__pycache__|\.pytest_cache|\.benchmarks|\.mypy_cache|\.ruff_cache|\.hypothesis|\.tox|\.nox|\.venv|venv|\.cache|\.eggs|[^/]+\.egg-info|node_modules|htmlcov|coverage|\.nyc_output|\.vitest|\.turbo|\.parcel-cache|\.gradle|test-results|playwright-report)\//;
const ownNames =
  /(?:^|\/)(?:\.coverage(?:\.[^/]+)?|coverage\.(?:xml|json|lcov)|lcov\.info|junit[^/]*\.xml|\.eslintcache|\.testmondata[^/]*|[^/]+\.(?:py[co]|profraw|profdata|tsbuildinfo))$/;

export function isToolOutput(path: string): boolean {
  return ownFolders.test(path) || ownNames.test(path);
}

/** Folders that builds fill: checks may write there, and a person may keep something in them, too. */
export function isInBuildFolder(path: string): boolean {
  return /(?:^|\/)(?:build|dist|out|target)\//.test(path);
}
