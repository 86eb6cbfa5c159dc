/** A parsed `domain/Feature`. The folder is `<features_dir>/<domain>/<name>`. */
export interface Target {
  readonly domain: string;
  readonly name: string;
}

export function targetText(target: Target): string {
  return `${target.domain}/${target.name}`;
}

/** The domain a feature gets when neither the target, the registry nor a keyword names one. */
export const noDomain = "nodomain";
