import { knownProvider } from "../openai-providers.ts";
import type { Endpoint } from "./recipe.ts";

/** Where clients that speak to many providers look for the key of each. */
const keys: Readonly<Record<string, readonly string[]>> = {
  anthropic: ["ANTHROPIC_API_KEY"],
  openai: ["OPENAI_API_KEY"],
  google: ["GEMINI_API_KEY", "GOOGLE_GENERATIVE_AI_API_KEY"],
  openrouter: ["OPENROUTER_API_KEY"],
  opencode: ["OPENCODE_API_KEY"],
  groq: ["GROQ_API_KEY"],
  xai: ["XAI_API_KEY"],
  mistral: ["MISTRAL_API_KEY"],
  deepseek: ["DEEPSEEK_API_KEY"],
  cerebras: ["CEREBRAS_API_KEY"],
  zai: ["ZAI_API_KEY"],
  moonshotai: ["MOONSHOT_API_KEY"],
  "github-copilot": ["COPILOT_GITHUB_TOKEN"],
};

/** The model as its endpoint names it, without the provider that leads there; as written where there is no endpoint. */
export function modelAt(endpoint: Endpoint | undefined, model: string | undefined): string | undefined {
  return endpoint === undefined ? model : model?.slice(endpoint.provider.length + 1);
}

/** Names of the variables a worker may see: those of its model's provider and no others. */
export function keysFor(model: string | undefined, endpoint: Endpoint | undefined): readonly string[] {
  if (endpoint !== undefined) return endpoint.keyEnv === undefined ? [] : [endpoint.keyEnv];
  const provider = model?.split("/")[0] ?? "";
  const known = knownProvider(provider)?.keyEnv;
  return [
    ...new Set([
      ...(Object.hasOwn(keys, provider) ? (keys[provider] ?? []) : []),
      ...(known === undefined ? [] : [known]),
    ]),
  ];
}

const families: Readonly<Record<string, string>> = {
  anthropic: "anthropic",
  openai: "openai",
  google: "google",
  deepseek: "deepseek",
  xai: "xai",
  mistral: "mistral",
  zai: "zai",
  moonshotai: "moonshot",
};

const names: readonly (readonly [RegExp, string])[] = [
  [/claude|sonnet|haiku|opus/i, "anthropic"],
  [/\bgpt|\bo[1-9]\b|codex/i, "openai"],
  [/gemini|gemma/i, "google"],
  [/deepseek/i, "deepseek"],
  [/qwen/i, "qwen"],
  [/mistral|codestral|devstral/i, "mistral"],
  [/llama/i, "meta"],
  [/grok/i, "xai"],
  [/kimi/i, "moonshot"],
  [/glm/i, "zai"],
];

/** Who made the model, by its id; undefined when it does not tell. */
export function familyOf(model: string): string | undefined {
  const provider = model.split("/")[0] ?? "";
  return families[provider] ?? names.find(([pattern]) => pattern.test(model))?.[1];
}

const hosts: Readonly<Record<string, string>> = {
  anthropic: "api.anthropic.com",
  openai: "api.openai.com",
  google: "generativelanguage.googleapis.com",
  openrouter: "openrouter.ai",
  opencode: "opencode.ai",
  groq: "api.groq.com",
  xai: "api.x.ai",
  mistral: "api.mistral.ai",
  deepseek: "api.deepseek.com",
  cerebras: "api.cerebras.ai",
  zai: "api.z.ai",
  moonshotai: "api.moonshot.ai",
  "github-copilot": "api.githubcopilot.com",
};

/** Hosts a worker must reach: that of its model's provider; all of them for a model that is the client's own choice. */
export function hostsFor(model: string | undefined, endpoint: Endpoint | undefined): readonly string[] {
  if (endpoint !== undefined) return [hostOf(endpoint.baseUrl)];
  const provider = model?.split("/")[0] ?? "";
  const known = knownProvider(provider);
  if (known !== undefined) return [hostOf(known.baseUrl)];
  const one = Object.hasOwn(hosts, provider) ? hosts[provider] : undefined;
  return one === undefined ? Object.values(hosts) : [one];
}

export function hostOf(url: string): string {
  return URL.canParse(url) ? new URL(url).hostname : url;
}
