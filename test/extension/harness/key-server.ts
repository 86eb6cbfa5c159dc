// An endpoint of OpenAI's protocol that answers who asks with the right key, and says so; it never repeats a key.
import http from "node:http";

export interface KeyServer extends AsyncDisposable {
  readonly baseUrl: string;
}

/** `forever` in the words: no answer at all. */
export async function startKeyServer(key: string): Promise<KeyServer> {
  const server = http.createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const right = request.headers.authorization === `Bearer ${key}`;
      if (!right) {
        response.writeHead(401, { "content-type": "application/json" });
        response.end(JSON.stringify({ error: { message: "who are you" } }));
        return;
      }
      const { messages } = JSON.parse(Buffer.concat(chunks).toString("utf8")) as {
        readonly messages: readonly { readonly role: string; readonly content: string }[];
      };
      const said = messages.map(({ role, content }) => `${role}: ${content}`).join("; ");
      if (said.includes("forever")) return;
      response.writeHead(200, { "content-type": "text/event-stream" });
      const delta = (part: object): string =>
        `data: ${JSON.stringify({ id: "1", object: "chat.completion.chunk", ...part })}\n\n`;
      response.write(delta({ choices: [{ index: 0, delta: { role: "assistant", content: `I heard ${said}` } }] }));
      response.write(delta({ choices: [{ index: 0, delta: {}, finish_reason: "stop" }] }));
      response.end("data: [DONE]\n\n");
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  return {
    baseUrl: `http://127.0.0.1:${port}/v1`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
    },
  };
}
