import type { Call, Reply } from "../script.ts";
import {
  type Body,
  callsOf,
  contentText,
  cut,
  freshId,
  listOf,
  type ServerEvent,
  TalkWalk,
  textOf,
  usageNumbers,
  type Wire,
} from "./wire.ts";

export const anthropic: Wire = {
  name: "anthropic",
  owns: (path) => path.endsWith("/messages"),
  isStream: (body) => body["stream"] === true,
  terminator: "",
  read(body) {
    const walk = new TalkWalk();
    walk.system = contentText(body["system"]);
    for (const message of listOf(body["messages"])) {
      const { content } = message;
      const blocks: readonly Body[] = typeof content === "string" ? [{ type: "text", text: content }] : listOf(content);
      if (message["role"] === "assistant") walk.answered();
      else if (message["role"] === "system") walk.system += contentText(blocks);
      else {
        const ran = blocks.filter((block) => block["type"] === "tool_result");
        // The client adds reminders beside results of tools: they are no new turn of the user's.
        if (ran.length === 0) walk.said(contentText(blocks));
        for (const block of ran) walk.ran(contentText(block["content"]));
      }
    }
    return walk.talk(
      body["model"],
      listOf(body["tools"]).map((tool) => ({ name: textOf(tool["name"]), custom: false })),
    );
  },
  whole: (reply, call) => message(reply, call, blocksOf(reply), stopOf(reply)),
  events(reply, call) {
    const events: ServerEvent[] = [];
    const emit = (type: string, fields: Body = {}): void => {
      events.push({ event: type, data: { type, ...fields } });
    };
    emit("message_start", { message: message(reply, call, [], null) });
    for (const [index, block] of blocksOf(reply).entries()) {
      const delta = (fields: Body): void => emit("content_block_delta", { index, delta: fields });
      if (block["type"] === "text") {
        emit("content_block_start", { index, content_block: { type: "text", text: "" } });
        for (const text of cut(textOf(block["text"]), reply.pieces ?? 3)) delta({ type: "text_delta", text });
      } else {
        emit("content_block_start", { index, content_block: { ...block, input: {} } });
        delta({ type: "input_json_delta", partial_json: JSON.stringify(block["input"]) });
      }
      emit("content_block_stop", { index });
    }
    emit("message_delta", { delta: { stop_reason: stopOf(reply), stop_sequence: null }, usage: usageOf(reply) });
    emit("message_stop");
    return events;
  },
  error(status, message_) {
    const types: Readonly<Record<number, string>> = { 401: "authentication_error", 429: "rate_limit_error" };
    return {
      type: "error",
      error: { type: types[status] ?? "api_error", message: message_ },
      request_id: "req_scripted",
    };
  },
};

function blocksOf(reply: Reply): readonly Body[] {
  return [
    ...(reply.text === undefined || reply.text === "" ? [] : [{ type: "text", text: reply.text }]),
    ...callsOf(reply).map((call) => ({
      type: "tool_use",
      id: freshId("toolu_"),
      name: call.name,
      input: call.arguments,
    })),
  ];
}

function stopOf(reply: Reply): string {
  if (reply.stop === "length") return "max_tokens";
  return callsOf(reply).length > 0 ? "tool_use" : "end_turn";
}

function usageOf(reply: Reply): Body {
  const { input, output, cacheRead } = usageNumbers(reply);
  return {
    input_tokens: input,
    cache_creation_input_tokens: 0,
    cache_read_input_tokens: cacheRead,
    output_tokens: output,
  };
}

function message(reply: Reply, call: Call, content: readonly Body[], stop: string | null): Body {
  return {
    id: freshId("msg_"),
    type: "message",
    role: "assistant",
    model: call.model,
    content,
    stop_reason: stop,
    stop_sequence: null,
    usage: usageOf(reply),
  };
}
