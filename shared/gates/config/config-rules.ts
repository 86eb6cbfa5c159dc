/**
 * What a setting may not become, as data: files, settings by path, and how the new value differs from the old one.
 *
 * `is`: now matches `value`, and did not before. `narrowed`: a list lost items, or a value changed. `grew`: a list got
 * items. `lower`/`higher`: a number. `off`: true became false, or it went away. `on`: false became true, or it came.
 * `milder`: error to warn to off, or it went away. `gone`: it went away.
 */
export interface ConfigRule {
  readonly rule: "test_config_tamper" | "lint_config_relaxed" | "timeout_raised";
  readonly files: RegExp;
  readonly path: RegExp;
  readonly how: "is" | "narrowed" | "grew" | "lower" | "higher" | "off" | "on" | "milder" | "gone";
  /** With `is`: the value. With `grew`: items that matter. */
  readonly value?: RegExp;
  /** With `grew`: items that do not. */
  readonly unless?: RegExp;
}

/** Words in a command after which a red test is no failure, or is not run. */
export const dodges =
  /\|\|\s*(?:true|:|exit\s+0|echo\b|\(exit 0\))|;\s*(?:true|:|exit\s+0)\s*(?:$|["'])|\bexit\s+0\b|\bset \+e\b|--?(?:pass-?with-?no-?tests|passWithNoTests|allow-?no-?tests|collect-only|co\b|deselect|ignore(?:-glob)?\b|exclude\b|testPathIgnorePatterns|testNamePattern|test-name-pattern|grep\b|fgrep\b|invert\b|no-run\b|skip\b|skip-tests|continue-on-collection-errors|noconftest|lf\b|last-failed|retries|retry|reruns|updateSnapshot|update-snapshots?|snapshot-update|allowOnly|dangerouslyIgnoreUnhandledErrors|maven\.test\.failure\.ignore)|\s-(?:k|t|run|short|x test|DskipTests|Dmaven\.test\.skip|u)(?=[\s=]|$)|\s-m\s+["']?not\b|-p no:|ignore_errors|success_codes|allow_failure|continue-on-error/;

export const runners =
  /\b(?:pytest|py\.test|unittest|nose2?|tox|nox|jest|vitest|mocha|ava|tap|jasmine|karma|cypress|playwright|node\b.*--test|deno test|bun test|go test|gotestsum|cargo (?:test|nextest)|mvn|mvnw|gradle|gradlew|sbt|ctest|rspec|phpunit|dotnet test|npm (?:test|t|run test)|yarn test|pnpm test|make test)\b/;

const pyproject = /(?:^|\/)(?:pyproject\.toml|setup\.cfg|tox\.ini|\.?pytest\.(?:ini|toml))$/;
const pytest = /^(?:tool\.pytest(?:\.ini_options)?|tool:pytest|pytest)\./;
const jsTests =
  /(?:^|\/)(?:package\.json|(?:jest|vitest|vite|playwright|cypress|karma)[\w.-]*\.(?:[cm]?[jt]s|json)|\.mocharc\.\w+|deno\.jsonc?|\.nycrc(?:\.json)?|\.c8rc(?:\.json)?|bunfig\.toml)$/;
const coverage =
  /(?:^|\/)(?:pyproject\.toml|setup\.cfg|tox\.ini|\.coveragerc|package\.json|\.nycrc(?:\.json)?|\.c8rc(?:\.json)?|codecov\.ya?ml|\.codecov\.ya?ml|(?:jest|vitest|vite)[\w.-]*\.(?:[cm]?[jt]s|json))$/;
const eslint =
  /(?:^|\/)(?:\.eslintrc[\w.]*|eslint\.config\.[cm]?[jt]s|package\.json|biome\.jsonc?|\.?oxlintrc\.json|\.stylelintrc[\w.]*|\.jshintrc|tslint\.json)$/;
const python =
  /(?:^|\/)(?:pyproject\.toml|setup\.cfg|tox\.ini|\.?ruff\.toml|\.flake8|\.?mypy\.ini|\.?pylintrc|pyrightconfig\.json|\.bandit)$/;
const tsconfig = /(?:^|\/)tsconfig[\w.-]*\.json$/;
const cargo = /(?:^|\/)(?:Cargo|clippy|\.clippy)\.toml$/;
const golangci = /(?:^|\/)\.golangci\.(?:ya?ml|toml|json)$/;
const maven = /(?:^|\/)(?:pom|settings|testng[\w-]*|checkstyle[\w-]*|pmd[\w-]*|spotbugs[\w-]*)\.xml$/;
const gradle = /(?:^|\/)build\.gradle(?:\.kts)?$/;
const anyFile = /(?:^|\/)(?:package\.json|deno\.jsonc?)$/;
const recipes = /(?:^|\/)(?:(?:GNU)?[Mm]akefile|[\w.-]+\.mk|[Jj]ustfile)$/;
const commands = /(?:^|\/)(?:Taskfile\.ya?ml|tox\.ini|pyproject\.toml|noxfile\.py|\.pre-commit-config\.ya?ml)$/;

export const configRules: readonly ConfigRule[] = [
  // What runs the tests.
  {
    rule: "test_config_tamper",
    files: anyFile,
    path: /^(?:scripts|tasks)\.(?:[\w:-]*(?:test|check|verify|ci|cover)[\w:-]*)$/,
    how: "is",
    value: dodges,
  },
  {
    rule: "test_config_tamper",
    files: anyFile,
    path: /^(?:scripts|tasks)\.test$/,
    how: "is",
    value: /^(?:\s*|true|:|echo\b.*|exit 0|node -e .*)$/,
  },
  { rule: "test_config_tamper", files: anyFile, path: /^(?:scripts|tasks)\.test$/, how: "gone" },
  {
    rule: "test_config_tamper",
    files: recipes,
    path: /^[\w-]*(?:test|check|verify|ci|cover)[\w-]*\.recipe$/,
    how: "is",
    value: new RegExp(`^@?-|${dodges.source}`),
  },
  { rule: "test_config_tamper", files: recipes, path: /^\.IGNORE/, how: "is", value: /./ },
  {
    rule: "test_config_tamper",
    files: commands,
    path: /commands?$|cmds?$|args$|^success_codes$|ignore_(?:outcome|errors)$/,
    how: "is",
    value: dodges,
  },
  { rule: "test_config_tamper", files: commands, path: /ignore_(?:outcome|errors|error)$/, how: "on" },
  // pytest.
  {
    rule: "test_config_tamper",
    files: pyproject,
    path: new RegExp(`${pytest.source}addopts$`),
    how: "grew",
    value:
      /^(?:-k.*|--deselect.*|--ignore.*|-m.*|--co|--collect-only|no:.*|-p|--lf|--last-failed|--noconftest|--continue-on-collection-errors|--no-cov|--reruns.*|-x|--exitfirst|--snapshot-update|not)$/,
  },
  {
    rule: "test_config_tamper",
    files: pyproject,
    path: new RegExp(`${pytest.source}(?:testpaths|python_files|python_functions|python_classes)$`),
    how: "narrowed",
  },
  {
    rule: "test_config_tamper",
    files: pyproject,
    path: new RegExp(`${pytest.source}(?:norecursedirs|collect_ignore\\w*)$`),
    how: "grew",
    unless: /^(?:\.\w+|build|dist|node_modules|venv|\.venv|env)$/,
  },
  {
    rule: "test_config_tamper",
    files: pyproject,
    path: new RegExp(`${pytest.source}(?:xfail_strict|strict\\w*)$`),
    how: "off",
  },
  { rule: "timeout_raised", files: pyproject, path: new RegExp(`${pytest.source}(?:timeout|reruns)$`), how: "higher" },
  // JavaScript test programs.
  {
    rule: "test_config_tamper",
    files: jsTests,
    path: /(?:^|\.)(?:testMatch|testRegex|roots|spec|specPattern|testDir|include)$/,
    how: "narrowed",
  },
  {
    rule: "test_config_tamper",
    files: jsTests,
    path: /(?:^|\.)(?:testMatch|testRegex|testDir)$/,
    how: "is",
    value: /./,
  },
  {
    rule: "test_config_tamper",
    files: jsTests,
    path: /(?:^|\.)(?:testPathIgnorePatterns|modulePathIgnorePatterns|exclude|testIgnore|excludeSpecPattern|ignore|grepInvert)$/,
    how: "grew",
    unless: /node_modules|(?:^|\/)(?:dist|build|out|coverage|\.next|\.git)\b/,
  },
  {
    rule: "test_config_tamper",
    files: jsTests,
    path: /(?:^|\.)(?:passWithNoTests|allowOnly|dangerouslyIgnoreUnhandledErrors|invert|update|updateSnapshot)$/,
    how: "on",
  },
  { rule: "test_config_tamper", files: jsTests, path: /(?:^|\.)(?:forbidOnly|failZero|checkLeaks)$/, how: "off" },
  {
    rule: "test_config_tamper",
    files: jsTests,
    path: /(?:^|\.)(?:testNamePattern|grep|fgrep)$/,
    how: "is",
    value: /./,
  },
  {
    rule: "timeout_raised",
    files: jsTests,
    path: /(?:^|\.)(?:testTimeout|hookTimeout|timeout|retries|retry|defaultCommandTimeout)$/,
    how: "higher",
  },
  // Coverage.
  {
    rule: "test_config_tamper",
    files: coverage,
    path: /(?:^|\.)(?:fail_under|coverageThreshold\..*|thresholds?\..*|thresholds?|check-coverage|lines|branches|functions|statements|target)$/,
    how: "lower",
  },
  {
    rule: "test_config_tamper",
    files: coverage,
    path: /(?:^|\.)(?:omit|exclude_lines|exclude_also|coveragePathIgnorePatterns)$/,
    how: "grew",
    unless: /__main__|TYPE_CHECKING|NotImplemented|node_modules|tests?\/|\*\/tests|__repr__/,
  },
  // Rust, Java.
  {
    rule: "test_config_tamper",
    files: cargo,
    path: /^(?:lib|test|bin|bench|package)\.(?:test|autotests|harness|doctest)$/,
    how: "is",
    value: /^false$/,
  },
  { rule: "test_config_tamper", files: cargo, path: /^test\.required-features$/, how: "is", value: /./ },
  {
    rule: "test_config_tamper",
    files: maven,
    path: /^(?:skipTests|skipITs|maven\.test\.skip|testFailureIgnore|maven\.test\.failure\.ignore|skip)$/,
    how: "on",
  },
  { rule: "test_config_tamper", files: maven, path: /^(?:exclude|excludedGroups|groups|test)$/, how: "is", value: /./ },
  {
    rule: "timeout_raised",
    files: maven,
    path: /^(?:rerunFailingTestsCount|forkedProcessTimeoutInSeconds)$/,
    how: "higher",
  },
  {
    rule: "test_config_tamper",
    files: gradle,
    path: /^(?:ignoreFailures|failOnNoMatchingTests)$/,
    how: "is",
    value: /^true$/,
  },
  {
    rule: "test_config_tamper",
    files: gradle,
    path: /^(?:enabled|failOnNoMatchingTests)$/,
    how: "is",
    value: /^false$/,
  },
  // Linters and types.
  {
    rule: "lint_config_relaxed",
    files: eslint,
    path: /(?:^|\.)rules\.|^[a-z@][\w@/-]*-[\w-]+$|^(?:eqeqeq|curly|complexity|strict|semi|quotes|indent|yoda|radix)$/,
    how: "milder",
  },
  {
    rule: "lint_config_relaxed",
    files: eslint,
    path: /(?:^|\.)(?:ignorePatterns|ignores|files\.ignore|ignore)$/,
    how: "grew",
    unless: /node_modules|(?:^|\/)(?:dist|build|out|coverage)\b/,
  },
  { rule: "lint_config_relaxed", files: eslint, path: /(?:^|\.)extends$/, how: "narrowed" },
  {
    rule: "lint_config_relaxed",
    files: eslint,
    path: /(?:^|\.)(?:linter|formatter|recommended)(?:\.\w+)?\.?enabled$|(?:^|\.)recommended$/,
    how: "off",
  },
  {
    rule: "lint_config_relaxed",
    files: tsconfig,
    path: /^compilerOptions\.(?:strict\w*|no[A-Z]\w+|exactOptional\w+|alwaysStrict|useUnknown\w+|forceConsistent\w+|isolatedModules|checkJs)$/,
    how: "off",
  },
  {
    rule: "lint_config_relaxed",
    files: tsconfig,
    path: /^compilerOptions\.(?:skipLibCheck|suppress\w+|allowUnreachableCode|allowUnusedLabels)$/,
    how: "on",
  },
  {
    rule: "lint_config_relaxed",
    files: tsconfig,
    path: /^exclude$/,
    how: "grew",
    unless: /node_modules|(?:^|\/)(?:dist|build|out)\b/,
  },
  {
    rule: "lint_config_relaxed",
    files: python,
    path: /(?:^|\.)(?:ignore|extend-ignore|extend_ignore|exclude|extend-exclude|disable|disable_error_code|skips|per-file-ignores|exclude_dirs)$|per-file-ignores\.|per_file_ignores/,
    how: "grew",
    unless: /^(?:\.\w+|build|dist|venv|\.venv|migrations|__pycache__)$/,
  },
  {
    rule: "lint_config_relaxed",
    files: python,
    path: /(?:^|\.)(?:select|extend-select|enable|fixable)$/,
    how: "narrowed",
  },
  {
    rule: "lint_config_relaxed",
    files: python,
    path: /(?:mypy[^.]*|pyright)(?:\..*)?\.(?:ignore_errors|ignore_missing_imports|allow_\w+|implicit_\w+|follow_imports_for_stubs)$|^(?:ignore_errors|ignore_missing_imports|allow_\w+)$/,
    how: "on",
  },
  {
    rule: "lint_config_relaxed",
    files: python,
    path: /mypy[^.]*(?:\..*)?\.(?:strict\w*|disallow_\w+|warn_\w+|check_untyped_defs|no_implicit\w*)$/,
    how: "off",
  },
  { rule: "lint_config_relaxed", files: python, path: /follow_imports$/, how: "is", value: /^(?:skip|silent)$/ },
  {
    rule: "lint_config_relaxed",
    files: python,
    path: /(?:pyright\.)?(?:typeCheckingMode)$/,
    how: "is",
    value: /^(?:off|basic)$/,
  },
  {
    rule: "lint_config_relaxed",
    files: python,
    path: /(?:^|\.)report[A-Z]\w+$/,
    how: "is",
    value: /^(?:none|false|information|warning)$/,
  },
  {
    rule: "lint_config_relaxed",
    files: python,
    path: /(?:max-line-length|line-length|max-complexity|max-args|max-branches|max-statements)$/,
    how: "higher",
  },
  {
    rule: "lint_config_relaxed",
    files: python,
    path: /^(?:tool\.)?(?:mypy|ruff|pyright|pylint)[^.]*\.(?:strict|select)$/,
    how: "gone",
  },
  {
    rule: "lint_config_relaxed",
    files: cargo,
    path: /^(?:workspace\.)?lints\.[\w.-]+$|^lints\.\w+\.[\w-]+$/,
    how: "milder",
  },
  { rule: "lint_config_relaxed", files: cargo, path: /-threshold$|^(?:too-many|max)[\w-]+$/, how: "higher" },
  {
    rule: "lint_config_relaxed",
    files: golangci,
    path: /(?:^|\.)(?:disable|exclude|exclude-rules|exclude-dirs|exclude-files|skip-dirs|skip-files)$/,
    how: "grew",
  },
  { rule: "lint_config_relaxed", files: golangci, path: /(?:^|\.)enable$/, how: "narrowed" },
  { rule: "lint_config_relaxed", files: golangci, path: /(?:^|\.)(?:disable-all|new)$/, how: "on" },
  {
    rule: "lint_config_relaxed",
    files: /(?:^|\/)\.(?:eslint|prettier|stylelint|ruff|pylint|biome|oxlint)ignore$/,
    path: /^ignored$/,
    how: "is",
    value: /./,
  },
];
