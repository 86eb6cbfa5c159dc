import { everyClientVariables } from "./client-variables.ts";

/**
 * The whole environment of a pi process. Nothing is inherited but what stands here, the provider keys that this pi
 * names in its own help, and the variables that the user's pi files refer to. Repository settings never reach it.
 */
const always = [
  ...everyClientVariables,
  "HOME",
  "TMPDIR",
  "TMP",
  "TEMP",
  "USERPROFILE",
  "APPDATA",
  "LOCALAPPDATA",
  "GOOGLE_APPLICATION_CREDENTIALS",
  "GOOGLE_CLOUD_PROJECT",
  "GOOGLE_CLOUD_LOCATION",
] as const;

export function piEnvironment(
  env: Readonly<Record<string, string>>,
  more: { readonly agentDir: string; readonly names: readonly string[] },
): Record<string, string> {
  const kept: Record<string, string> = {};
  for (const name of [...always, ...more.names]) {
    const value = env[name];
    if (value !== undefined && !name.startsWith("PI_")) kept[name] = value;
  }
  return { ...kept, PI_CODING_AGENT_DIR: more.agentDir, PI_OFFLINE: "1", PI_TELEMETRY: "0", NO_COLOR: "1" };
}

/** Variables that pi's help lists for its providers: `  OPENAI_API_KEY   - OpenAI GPT API key`. */
export function variablesOfHelp(help: string): readonly string[] {
  return [...help.matchAll(/^\s{2,}([A-Z][A-Z0-9_]+)\s+- /gm)]
    .map((match) => match[1] ?? "")
    .filter((name) => name !== "" && !name.startsWith("PI_"));
}

/** `--no-mcp`, `--offline`, ... as this pi's help lists them. */
export function flagsOfHelp(help: string): readonly string[] {
  return [...new Set([...help.matchAll(/(?<=[\s,])--[a-z][a-z-]*/g)].map((match) => match[0]))];
}

/** Text without the values of the given variables; short values are words, not secrets. */
export function withoutValues(text: string, env: Readonly<Record<string, string>>, names: readonly string[]): string {
  let safe = text;
  for (const name of names) {
    const value = env[name];
    if (value !== undefined && value.length >= 8) safe = safe.replaceAll(value, `[${name}]`);
  }
  return safe;
}
