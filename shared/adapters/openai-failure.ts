import type { FailureWhy } from "../ports/model.ts";

/** What an endpoint said, or how the connection broke, as one of the chain's reasons. Pure. */
export interface HttpTrouble {
  readonly status: number | undefined;
  readonly message: string;
  /** The error body's own code. */
  readonly code?: string;
  /** `code` of the innermost cause: `ECONNREFUSED`, `UND_ERR_SOCKET`. */
  readonly cause?: string;
}

interface Row {
  readonly why: FailureWhy;
  readonly when: (trouble: HttpTrouble) => boolean;
}

const unknownModel =
  /model[^.]{0,80}(?:not found|does(?: not|n't) exist|not exist|unknown|is not (?:available|supported|valid)|not a valid)|(?:unknown|invalid|no such|no) model\b|no endpoints found/i;
const timeouts = new Set(["UND_ERR_HEADERS_TIMEOUT", "UND_ERR_BODY_TIMEOUT", "UND_ERR_CONNECT_TIMEOUT", "ETIMEDOUT"]);

/** The first row that holds decides. */
const rows: readonly Row[] = [
  { why: "auth", when: ({ status }) => status === 401 || status === 403 },
  { why: "rate-limit", when: ({ status }) => status === 429 },
  { why: "unknown-model", when: ({ code }) => code === "model_not_found" },
  {
    why: "unknown-model",
    when: ({ status, message }) => (status === 400 || status === 404 || status === 422) && unknownModel.test(message),
  },
  {
    why: "timeout",
    when: ({ status, cause }) => status === 408 || status === 504 || (cause !== undefined && timeouts.has(cause)),
  },
  { why: "network", when: ({ status }) => status === undefined },
  { why: "error", when: () => true },
];

export function failureOf(trouble: HttpTrouble): FailureWhy {
  return rows.find(({ when }) => when(trouble))?.why ?? "error";
}

/** `ECONNREFUSED` and its like in words. */
const causeWords: Readonly<Record<string, string>> = {
  ECONNREFUSED: "nothing listens there",
  ECONNRESET: "the connection was reset",
  ENOTFOUND: "the host is not known",
  EAI_AGAIN: "the host could not be looked up",
  UND_ERR_SOCKET: "the connection was closed",
  UND_ERR_CONNECT_TIMEOUT: "no connection",
  CERT_HAS_EXPIRED: "its certificate has expired",
  DEPTH_ZERO_SELF_SIGNED_CERT: "its certificate is self-signed",
};

export function troubleText({ status, message, cause }: HttpTrouble): string {
  if (status !== undefined) return message.startsWith(String(status)) ? message : `${status} ${message}`;
  return (
    (cause !== undefined ? causeWords[cause] : undefined) ?? (cause === undefined ? message : `${message} (${cause})`)
  );
}
