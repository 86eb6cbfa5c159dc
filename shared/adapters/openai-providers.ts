/**
 * Endpoints that speak OpenAI's chat protocol and need no configuration. `local` ones answer on this machine, without a
 * key; the others count as configured once their key is in the environment. Anything else is one entry of
 * `models.providers` in config.json.
 */
export interface KnownProvider {
  readonly title: string;
  readonly baseUrl: string;
  readonly keyEnv?: string;
  /** Environment variable of the user's that names another base URL. */
  readonly baseUrlEnv?: string;
  readonly local: boolean;
  /** Models that `auto` tries, best first; a model the endpoint does not know falls through. */
  readonly models: readonly string[];
}

export const knownProviders = {
  openai: {
    title: "OpenAI",
    baseUrl: "https://api.openai.com/v1",
    keyEnv: "OPENAI_API_KEY",
    baseUrlEnv: "OPENAI_BASE_URL",
    local: false,
    models: ["gpt-5.5", "gpt-5", "gpt-4.1"],
  },
  openrouter: {
    title: "OpenRouter",
    baseUrl: "https://openrouter.ai/api/v1",
    keyEnv: "OPENROUTER_API_KEY",
    local: false,
    models: ["poolside/laguna-s-2.1:free", "cohere/north-mini-code:free"],
  },
  ollama: { title: "Ollama", baseUrl: "http://127.0.0.1:11434/v1", local: true, models: [] },
  "llama-cpp": { title: "llama.cpp", baseUrl: "http://127.0.0.1:8080/v1", local: true, models: [] },
  "llama-swap": { title: "llama-swap", baseUrl: "http://127.0.0.1:8080/v1", local: true, models: [] },
  lmstudio: { title: "LM Studio", baseUrl: "http://127.0.0.1:1234/v1", local: true, models: [] },
  vllm: { title: "vLLM", baseUrl: "http://127.0.0.1:8000/v1", local: true, models: [] },
} as const satisfies Record<string, KnownProvider>;

export function knownProvider(name: string): KnownProvider | undefined {
  return Object.hasOwn(knownProviders, name) ? knownProviders[name as keyof typeof knownProviders] : undefined;
}

/** True for an http(s) URL whose host can only be this machine. */
export function isLoopback(url: string): boolean {
  if (!URL.canParse(url)) return false;
  const { protocol, hostname } = new URL(url);
  if (protocol !== "http:" && protocol !== "https:") return false;
  return hostname === "localhost" || hostname === "[::1]" || /^127(?:\.\d{1,3}){3}$/.test(hostname);
}
