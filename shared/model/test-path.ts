/**
 * Files that hold tests, by name alone: they have a budget of their own, and an existing one may be edited only when the
 * contract names it exactly.
 */
const names: readonly RegExp[] = [
  /^test_[^/]*\.py$/,
  /^[^/]*_test\.(?:py|go|rb|exs|dart)$/,
  /^Tests?\.[A-Za-z]+$/,
  /^[^/]*Tests?\.(?:java|kt|cs|swift|scala|php)$/,
  /^[^/]*\.(?:test|spec|e2e|cy)\.[cm]?[jt]sx?$/,
  /^[^/]*_spec\.rb$/,
  /^conftest\.py$/,
];
const folders: readonly string[] = ["test", "tests", "__tests__", "spec", "specs", "__snapshots__", "testdata"];

export function isTestPath(path: string): boolean {
  const parts = path.split("/");
  const name = parts.pop() ?? "";
  return names.some((pattern) => pattern.test(name)) || parts.some((part) => folders.includes(part));
}
