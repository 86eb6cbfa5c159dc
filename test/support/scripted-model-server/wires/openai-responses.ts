import type { Call, Reply } from "../script.ts";
import {
  argumentsText,
  type Body,
  callsOf,
  contentText,
  cut,
  freshId,
  listOf,
  type ServerEvent,
  type Talk,
  TalkWalk,
  textOf,
  usageNumbers,
  type Wire,
} from "./wire.ts";

const results = new Set(["function_call_output", "custom_tool_call_output", "local_shell_call_output"]);
const calls = new Set(["function_call", "custom_tool_call", "local_shell_call"]);

/** OpenAI's newer protocol, which codex speaks. */
export const openAiResponses: Wire = {
  name: "openai-responses",
  owns: (path) => path.endsWith("/responses"),
  isStream: (body) => body["stream"] === true,
  terminator: "",
  read(body) {
    const walk = new TalkWalk();
    walk.system = textOf(body["instructions"]);
    const items: readonly Body[] =
      typeof body["input"] === "string" ? [{ role: "user", content: body["input"] }] : listOf(body["input"]);
    for (const item of items) {
      const kind = textOf(item["type"] ?? "message");
      if (calls.has(kind)) walk.answered();
      else if (results.has(kind)) walk.ran(contentText(item["output"]));
      else if (item["role"] === "assistant") walk.answered();
      else if (item["role"] === "user") walk.said(contentText(item["content"]));
      else if (kind === "message") walk.system += contentText(item["content"]);
    }
    return walk.talk(body["model"], listOf(body["tools"]).flatMap(toolsOf));
  },
  whole: (reply, call) => response("completed", call, reply, itemsOf(reply, call)),
  events(reply, call) {
    const id = freshId("resp_");
    const items = itemsOf(reply, call);
    const events: ServerEvent[] = [];
    const emit = (type: string, fields: Body): void => {
      events.push({ event: type, data: { type, sequence_number: events.length, ...fields } });
    };
    emit("response.created", { response: { ...response("in_progress", call, reply, []), id } });
    for (const [index, item] of items.entries()) {
      const place = { item_id: item["id"], output_index: index };
      const pieces = reply.pieces ?? 3;
      if (item["type"] === "message") {
        emit("response.output_item.added", {
          output_index: index,
          item: { ...item, status: "in_progress", content: [] },
        });
        const part = { type: "output_text", text: "", annotations: [] };
        emit("response.content_part.added", { ...place, content_index: 0, part });
        for (const delta of cut(reply.text ?? "", pieces))
          emit("response.output_text.delta", { ...place, content_index: 0, delta, logprobs: [] });
        emit("response.output_text.done", { ...place, content_index: 0, text: reply.text, logprobs: [] });
        emit("response.content_part.done", { ...place, content_index: 0, part: { ...part, text: reply.text } });
      } else if (item["type"] === "custom_tool_call") {
        emit("response.output_item.added", {
          output_index: index,
          item: { ...item, status: "in_progress", input: "" },
        });
        emit("response.custom_tool_call_input.done", { ...place, input: item["input"] });
      } else {
        emit("response.output_item.added", {
          output_index: index,
          item: { ...item, status: "in_progress", arguments: "" },
        });
        emit("response.function_call_arguments.done", { ...place, arguments: item["arguments"] });
      }
      emit("response.output_item.done", { output_index: index, item });
    }
    const last = reply.stop === "length" ? "incomplete" : "completed";
    emit(`response.${last}`, { response: { ...response(last, call, reply, items), id } });
    return events;
  },
  error(status, message) {
    const code = status === 429 ? "rate_limit_exceeded" : "server_error";
    return { error: { message, type: code, param: null, code } };
  },
};

function toolsOf(tool: Body): Talk["tools"] {
  if (tool["type"] === "namespace") {
    const namespace = textOf(tool["name"]);
    return listOf(tool["tools"])
      .flatMap(toolsOf)
      .map((one) => ({ ...one, namespace }));
  }
  return [{ name: textOf(tool["name"] ?? tool["type"]), custom: tool["type"] === "custom" }];
}

function itemsOf(reply: Reply, call: Call): readonly Body[] {
  const text = reply.text ?? "";
  const message = {
    id: freshId("msg_"),
    type: "message",
    role: "assistant",
    status: "completed",
    content: [{ type: "output_text", text, annotations: [] }],
  };
  return [
    ...(text === "" ? [] : [message]),
    ...callsOf(reply).map((one) => {
      const offered = call.tools.find(({ name }) => name === one.name);
      const namespace = offered?.namespace === undefined ? {} : { namespace: offered.namespace };
      const common = { status: "completed", call_id: freshId("call_"), name: one.name, ...namespace };
      return offered?.custom === true
        ? { id: freshId("ctc_"), type: "custom_tool_call", ...common, input: argumentsText(one) }
        : { id: freshId("fc_"), type: "function_call", ...common, arguments: argumentsText(one) };
    }),
  ];
}

function response(status: string, call: Call, reply: Reply, output: readonly Body[]): Body {
  const { input, cacheRead, output: out } = usageNumbers(reply);
  const usage = {
    input_tokens: input + cacheRead,
    input_tokens_details: { cached_tokens: cacheRead },
    output_tokens: out,
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: input + cacheRead + out,
  };
  return {
    id: freshId("resp_"),
    object: "response",
    created_at: 1_700_000_000,
    status,
    model: call.model,
    output,
    error: null,
    incomplete_details: status === "incomplete" ? { reason: "max_output_tokens" } : null,
    usage: status === "in_progress" ? null : usage,
  };
}
