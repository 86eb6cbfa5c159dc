import * as z from "zod";
import type { OpenedModel } from "../ports/model.ts";
import { createOpenAiModel } from "./model-openai.ts";
import { isLoopback } from "./openai-providers.ts";

/**
 * `demo/...`: replies written or recorded for the sample, served on the loopback by `orch demo` and asked through the
 * same lane as any endpoint. The server says what its replies are; that label stands on every line. Role and step
 * travel as headers, so that a reply can be told from one for another step of the same prompt.
 */
export const demoUrlVariable = "ORCH_DEMO_URL";

const List = z.looseObject({ data: z.array(z.looseObject({ id: z.string(), label: z.string() })) });
const listMs = 2_000;

export async function openDemoModel(
  id: string,
  baseUrl: string | undefined,
  signal: AbortSignal,
): Promise<OpenedModel> {
  const hint = "See the sample with: orch demo";
  if (baseUrl === undefined)
    return { kind: "unavailable", why: "the demo's replies are served only while orch demo runs", hint };
  if (!isLoopback(baseUrl)) return { kind: "unavailable", why: `${demoUrlVariable} must lead to this machine`, hint };
  const name = id.slice("demo/".length);
  const label = await labelOf(name, baseUrl, signal);
  if (label === undefined) return { kind: "unavailable", why: `the demo has no model ${name}`, hint };
  return {
    kind: "model",
    model: createOpenAiModel({
      id,
      remoteName: name,
      baseUrl,
      lane: "demo",
      label,
      headers: ({ role, step }) => ({ "x-orch-role": role, "x-orch-step": String(step) }),
      refusals: ["cassette.unknown-prompt"],
    }),
  };
}

async function labelOf(name: string, baseUrl: string, signal: AbortSignal): Promise<string | undefined> {
  try {
    const response = await fetch(`${baseUrl}/models`, {
      redirect: "error",
      signal: AbortSignal.any([signal, AbortSignal.timeout(listMs)]),
    });
    return List.parse(await response.json()).data.find(({ id }) => id === name)?.label;
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof Error) return undefined;
    throw error;
  }
}
