import type { Call, Reply } from "../script.ts";
import {
  argumentsText,
  callsOf,
  contentText,
  cut,
  freshId,
  listOf,
  type ServerEvent,
  TalkWalk,
  textOf,
  type Wire,
} from "./wire.ts";

export const openAiChat: Wire = {
  name: "openai-chat",
  owns: (path) => path.endsWith("/chat/completions"),
  isStream: (body) => body["stream"] === true,
  terminator: "data: [DONE]\n\n",
  read(body) {
    const walk = new TalkWalk();
    for (const message of listOf(body["messages"])) {
      const text = contentText(message["content"]);
      if (message["role"] === "system" || message["role"] === "developer")
        walk.system += walk.system === "" ? text : `\n${text}`;
      else if (message["role"] === "user") walk.said(text);
      else if (message["role"] === "assistant") walk.answered();
      else if (message["role"] === "tool") walk.ran(text);
    }
    const tools = listOf(body["tools"]).map((tool) => ({
      name: textOf((tool["function"] as { readonly name?: unknown } | undefined)?.name),
      custom: false,
    }));
    return walk.talk(body["model"], tools);
  },
  whole(reply, call) {
    const calls = toolCalls(reply);
    const message = {
      role: "assistant",
      content: reply.text ?? null,
      ...(calls.length === 0 ? {} : { tool_calls: calls }),
    };
    return {
      ...envelope(call, "chat.completion"),
      choices: [{ index: 0, message, finish_reason: finishOf(reply) }],
      ...usageOf(reply),
    };
  },
  events(reply, call) {
    const base = envelope(call, "chat.completion.chunk");
    const chunk = (delta: unknown, finish: string | null = null): ServerEvent => ({
      data: { ...base, choices: [{ index: 0, delta, finish_reason: finish }] },
    });
    return [
      chunk({ role: "assistant", content: "" }),
      ...cut(reply.thinking ?? "", 1).map((piece) => chunk({ reasoning_content: piece })),
      ...cut(reply.text ?? "", reply.pieces ?? 3).map((piece) => chunk({ content: piece })),
      ...toolCalls(reply).map((one, index) => chunk({ tool_calls: [{ index, ...one }] })),
      chunk({}, finishOf(reply)),
      ...(reply.usage === undefined ? [] : [{ data: { ...base, choices: [], ...usageOf(reply) } }]),
    ];
  },
  error: (_status, message, code) => ({ error: { message, type: "server_error", param: null, code } }),
};

function envelope(call: Call, object: string): Record<string, unknown> {
  return { id: freshId("chatcmpl-"), object, created: 1_700_000_000, model: call.model };
}

function toolCalls(reply: Reply): readonly object[] {
  return callsOf(reply).map((call) => ({
    id: freshId("call_"),
    type: "function",
    function: { name: call.name, arguments: argumentsText(call) },
  }));
}

function finishOf(reply: Reply): string {
  return callsOf(reply).length > 0 ? "tool_calls" : (reply.stop ?? "stop");
}

/** Absent when the script names none: an endpoint that does not tell. */
function usageOf({ usage }: Reply): Record<string, unknown> {
  if (usage === undefined) return {};
  const { input = 1000, output = 50, cacheRead = 0, costUsd } = usage;
  return {
    usage: {
      prompt_tokens: input + cacheRead,
      completion_tokens: output,
      total_tokens: input + cacheRead + output,
      prompt_tokens_details: { cached_tokens: cacheRead },
      ...(costUsd === undefined ? {} : { cost: costUsd }),
    },
  };
}
