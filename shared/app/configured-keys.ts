import type { Config } from "../model/config.ts";

/** Values behind `models.providers.*.keyEnv`: a person may call the variable anything, so its name does not tell that it is a secret. */
export function configuredKeys(config: Config, env: Readonly<Record<string, string | undefined>>): string[] {
  return Object.values(config.models.providers).flatMap(({ keyEnv }) =>
    keyEnv === undefined ? [] : (env[keyEnv] ?? []),
  );
}
