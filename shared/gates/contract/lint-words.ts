/** The words that lints look for. Data: a new one needs no code. */

/** They point out of the contract: a worker sees nothing of what was said, seen or decided before. */
export const elsewhere: readonly RegExp[] = [
  /\bas (?:we )?(?:already )?(?:discussed|agreed|mentioned|said|explained|talked about|decided)\b/i,
  /\bwe (?:discussed|agreed|talked about|mentioned|decided)\b/i,
  /\b(?:see|as|mentioned|described|listed|shown|stated) above\b|\bsee below\b/i,
  /\blike (?:last time|the other (?:one|task)s?)\b/i,
  /\bthe usual way\b|\byou know (?:what|how|which)\b/i,
  /\b(?:previous|earlier|last|our|that) (?:conversation|discussion|meeting)\b/i,
  /\bthe (?:previous|last|other) (?:task|contract)\b/i,
  /\b(?:in|see|from|per) the (?:ticket|pull request|wiki|design doc|figma)\b|\b(?:see|per) the (?:issue|PR)\b/i,
  /(?:^|\s)(?:issue|ticket|PR|pull request) ?#?\d+\b/i,
  /\b(?:see|follow|per|read|like|as in|(?:described|documented|specified|shown) (?:in|at|on))\s+https?:\/\/\S+/i,
  /\bwie (?:besprochen|vereinbart|abgesprochen|gesagt|oben|vorhin|zuletzt)\b/i,
];

/** Words of taste: nothing shows whether they were kept. */
export const vague: readonly RegExp[] = [
  /\bclean(?:ly)?(?: code)?\b/i,
  /\b(?:good|best|common|proper|sound) (?:practices?|style|quality|code|design)\b/i,
  /\bhigh[- ]quality\b/i,
  /\b(?:readable|maintainable|elegant|idiomatic|robust|scalable|performant|efficient|intuitive|user[- ]friendly|modern)\b/i,
  /\b(?:appropriate|appropriately|properly|nicely|sensibl[ey]|reasonabl[ey]|adequate(?:ly)?|carefully|well[- ](?:written|structured|designed|documented|tested))\b/i,
  /\b(?:as|if|when|where) (?:needed|necessary|appropriate|possible|applicable)\b/i,
  /\b(?:try to|should ideally|preferably|be careful|make sure it works|keep it simple|and so on|etc\.?)(?:\b|$)/i,
  /\bfollow (?:the )?(?:existing |project |usual |our )?(?:conventions?|style|patterns?)\b/i,
];

/** What makes a sentence checkable all the same: code, a number, a name of a file, a quoted text. */
export const concrete: readonly RegExp[] = [
  /`[^`]+`/,
  /\d/,
  /"[^"]+"/,
  /\b[\w-]+\.[a-z]{1,5}\b/,
  /\w+\(\)/,
  /\b\w+_\w+\b/,
  /\S\/\S/,
];

/** What `check --template` writes where a person has to. */
export const placeholder = /^<[^<>]+>$/;

/** A program that looks at a whole project unless it is told where to look. */
interface WideTool {
  readonly program: RegExp;
  /** Its first words, where the program does several things. */
  readonly verb?: RegExp;
  /** Words that narrow it beside a path. */
  readonly narrows?: RegExp;
  /** It looks at everything whatever is named. */
  readonly always?: true;
}

export const wideTools: readonly WideTool[] = [
  { program: /^(?:py\.?test|pytest\d?)$/, narrows: /^(?:-k|-m|--lf)/ },
  { program: /^(?:jest|vitest|mocha|ava|tap)$/, narrows: /^(?:-t|--testNamePattern|--grep|-g|--findRelatedTests)/ },
  { program: /^(?:eslint|oxlint|biome|prettier|oxfmt|ruff|flake8|pylint|black|mypy|pyright|stylelint)$/ },
  { program: /^(?:tsc|vue-tsc)$/, narrows: /^(?:-p|--project)/ },
  {
    program: /^(?:npm|pnpm|yarn|bun)$/,
    verb: /^(?:run )?(?:test|lint|build|check|typecheck|ci)\b/,
    narrows: /^(?:-w|--workspace|--filter)/,
  },
  { program: /^(?:make|just|task|nox|tox|invoke|rake)$/ },
  { program: /^cargo$/, verb: /^(?:test|build|check|clippy|fmt|nextest)\b/, narrows: /^(?:-p|--package|--test|--bin)/ },
  { program: /^go$/, verb: /^(?:test|vet|build)\b/, narrows: /^-run/ },
  { program: /^(?:mvn|mvnw|gradle|gradlew)$/, narrows: /^(?:-pl|-Dtest|--tests|:)/ },
  { program: /^dotnet$/, verb: /^(?:test|build)\b/, narrows: /^--filter/ },
  { program: /^pre-commit$/, narrows: /^--files/ },
];

/** What stands before the program that counts. */
export const launchers =
  /^(?:uv|poetry|pipenv|hatch|pdm|rye|npx|bunx|pnpx|env|time|python\d?(?:\.\d+)?|py|node|run|exec|dlx|-m|--)$/;
