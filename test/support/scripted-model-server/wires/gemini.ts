import type { Call, Reply } from "../script.ts";
import {
  type Body,
  callsOf,
  contentText,
  cut,
  freshId,
  listOf,
  TalkWalk,
  textOf,
  usageNumbers,
  type Wire,
} from "./wire.ts";

export const gemini: Wire = {
  name: "gemini",
  owns: (path) => /:(?:stream)?[gG]enerateContent$/.test(path),
  isStream: (_body, path) => path.endsWith(":streamGenerateContent"),
  terminator: "",
  read(body, path) {
    const walk = new TalkWalk();
    walk.system = contentText((body["systemInstruction"] as Body | undefined)?.["parts"]);
    for (const content of listOf(body["contents"])) {
      const parts = listOf(content["parts"]);
      if (content["role"] === "model") {
        walk.answered();
        continue;
      }
      const ran = parts.filter((part) => part["functionResponse"] !== undefined);
      if (ran.length === 0) walk.said(contentText(parts));
      for (const part of ran) walk.ran(JSON.stringify(part["functionResponse"]));
    }
    const tools = listOf(body["tools"]).flatMap((tool) =>
      listOf(tool["functionDeclarations"]).map((one) => ({ name: textOf(one["name"]), custom: false })),
    );
    return walk.talk(decodeURIComponent(/models\/([^:/?]+)/.exec(path)?.[1] ?? ""), tools);
  },
  whole: (reply, call) =>
    chunk([...cut(reply.text ?? "", 1).map((text) => ({ text })), ...functions(reply)], reply, call, true),
  events: (reply, call) => [
    ...cut(reply.text ?? "", reply.pieces ?? 3).map((text) => ({ data: chunk([{ text }], reply, call, false) })),
    ...functions(reply).map((part) => ({ data: chunk([part], reply, call, false) })),
    { data: chunk([{ text: "" }], reply, call, true) },
  ],
  error(status, message) {
    const names: Readonly<Record<number, string>> = {
      400: "INVALID_ARGUMENT",
      401: "UNAUTHENTICATED",
      429: "RESOURCE_EXHAUSTED",
      500: "INTERNAL",
    };
    return { error: { code: status, message, status: names[status] ?? "UNKNOWN" } };
  },
};

function functions(reply: Reply): readonly Body[] {
  return callsOf(reply).map((call) => ({
    functionCall: { id: freshId("call_"), name: call.name, args: call.arguments },
    thoughtSignature: "c2NyaXB0ZWQ=",
  }));
}

function chunk(parts: readonly Body[], reply: Reply, call: Call, last: boolean): Body {
  const { input, output, cacheRead } = usageNumbers(reply);
  return {
    candidates: [
      {
        content: { role: "model", parts },
        index: 0,
        ...(last ? { finishReason: reply.stop === "length" ? "MAX_TOKENS" : "STOP" } : {}),
      },
    ],
    ...(last
      ? {
          usageMetadata: {
            promptTokenCount: input + cacheRead,
            cachedContentTokenCount: cacheRead,
            candidatesTokenCount: output,
            totalTokenCount: input + cacheRead + output,
          },
        }
      : {}),
    modelVersion: call.model,
    responseId: freshId("resp_"),
  };
}
