/**
 * Takes secrets out of text before it is written: the literal values this process holds, and what has the shape of a
 * well-known key. Lengths and positions are not kept; the mark says what kind stood there.
 */
export interface Redactor {
  text(text: string): string;
  /** Every string in a JSON value, keys included. */
  value<T>(value: T): T;
  /** Further literal values from here on: which variables hold keys is known once the settings are read. */
  learn(secrets: readonly string[]): void;
}

/** A shorter value would turn up in ordinary text. */
const minLiteral = 8;

const shapes: readonly { readonly kind: string; readonly pattern: RegExp }[] = [
  {
    kind: "private key",
    pattern: /-----BEGIN (?:[A-Z]+ )*PRIVATE KEY-----[\s\S]*?(?:-----END (?:[A-Z]+ )*PRIVATE KEY-----|$)/g,
  },
  { kind: "key", pattern: /\bsk-(?:ant-|or-v1-|proj-|svcacct-|admin-)?[A-Za-z0-9_-]{20,}/g },
  { kind: "key", pattern: /\b(?:sk|rk|pk)_(?:live|test)_[A-Za-z0-9]{16,}/g },
  { kind: "token", pattern: /\b(?:gh[pousr]_[A-Za-z0-9]{30,}|github_pat_[A-Za-z0-9_]{30,})/g },
  { kind: "token", pattern: /\bglpat-[A-Za-z0-9_-]{20,}/g },
  { kind: "token", pattern: /\bxox[abeoprs]-[A-Za-z0-9-]{10,}/g },
  {
    kind: "token",
    pattern: /\b(?:npm_[A-Za-z0-9]{36}|pypi-[A-Za-z0-9_-]{50,}|hf_[A-Za-z0-9]{30,}|dop_v1_[a-f0-9]{64})/g,
  },
  { kind: "key", pattern: /\b(?:AKIA|ASIA)[A-Z0-9]{16}\b/g },
  { kind: "key", pattern: /\bAIza[A-Za-z0-9_-]{35}/g },
  { kind: "key", pattern: /\b(?:gsk|csk|xai|tgp_v1|nvapi)[-_][A-Za-z0-9_-]{20,}/g },
  { kind: "token", pattern: /\beyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}/g },
];
/** Groups 1 and 3 stay: what stands around the secret. */
const framed: readonly RegExp[] = [
  /(\b[Bb]earer\s+)([A-Za-z0-9._~+/-]{16,}=*)()/g,
  /(\b[a-z][a-z0-9+.-]*:\/\/[^\s/:@]*:)([^\s/@]{3,})(@)/gi,
];

export function createRedactor(secrets: readonly string[]): Redactor {
  let literals: readonly string[] = [];
  const learn = (more: readonly string[]): void => {
    const written = more.filter((secret) => secret.length >= minLiteral).flatMap(writings);
    literals = [...new Set([...literals, ...written])].toSorted((a, b) => b.length - a.length);
  };
  learn(secrets);
  const text = (given: string): string => {
    let out = given;
    for (const literal of literals) out = out.replaceAll(literal, "[redacted]");
    for (const { kind, pattern } of shapes) out = out.replace(pattern, `[redacted ${kind}]`);
    for (const pattern of framed) out = out.replace(pattern, "$1[redacted]$3");
    return out;
  };
  const value = (given: unknown): unknown => {
    if (typeof given === "string") return text(given);
    if (Array.isArray(given)) return given.map(value);
    if (typeof given === "object" && given !== null) {
      return Object.fromEntries(Object.entries(given).map(([key, part]) => [text(key), value(part)]));
    }
    return given;
  };
  return { text, value: <T>(given: T): T => value(given) as T, learn };
}

/** The ways a value is written down where programs echo it. */
function writings(secret: string): string[] {
  const base64 = Buffer.from(secret).toString("base64");
  return [secret, encodeURIComponent(secret), JSON.stringify(secret).slice(1, -1), base64, base64.replace(/=+$/, "")];
}

/**
 * Words that code and prose hold, too: the password of a database at hand, the key that a server on this machine does not
 * look at. To take `postgres` out of every file would hide no secret and spoil the code.
 */
export function isPlainWord(value: string): boolean {
  return value.length < 20 && /^\p{L}+(?:[-_. ]\p{L}+)*\d{0,4}$/u.test(value);
}

/** Values of an environment that are secret by their name. */
export function secretsOf(env: Readonly<Record<string, string | undefined>>): string[] {
  return Object.entries(env).flatMap(([name, value]) =>
    value !== undefined &&
    !isPlainWord(value) &&
    !/(?:SOCK|FILE|PATH|DIR|URL|HELPER)$/i.test(name) &&
    /(?:^|_)(?:API_?KEY|KEY|TOKEN|SECRET|PASSWORD|PASSWD|PASS|CREDENTIALS?|AUTH)(?:_|$)/i.test(name)
      ? [value]
      : [],
  );
}
