import { knownProviders } from "../adapters/openai-providers.ts";
import { templateId } from "../model/model-ids.ts";

/** Tried in this order by the chain; free models first, a local one last. */
export const defaultChain = [
  "openrouter/poolside/laguna-s-2.1:free",
  "openrouter/cohere/north-mini-code:free",
  "opencode/nemotron-3-ultra-free",
  "opencode/deepseek-v4-flash-free",
  "opencode/laguna-s-2.1-free",
  "llama-swap/qwen2.5-coder-7b-instruct",
] as const;

/** Ids worth offering where nobody is asked: completion, near misses. */
export const familiarModels: readonly string[] = [
  ...new Set([
    ...defaultChain,
    ...Object.entries(knownProviders).flatMap(([name, { models }]) => models.map((model) => `${name}/${model}`)),
    templateId,
  ]),
];
