// The demo's model as the tests need it: the shipped cassette, a feature whose code never passes, and one that hangs.
import http from "node:http";
import { startCassetteServer } from "../../../shared/adapters/cassette-server.ts";
import { demoCassette } from "../../../shared/app/demo/cassette.ts";
import type { Cassette } from "../../../shared/model/cassette.ts";

const spec = (name: string): string => `# ${name}

## Overview

Says hello to a customer of the corner shop.

## Inputs

| name | type | rule |
|---|---|---|
| name | str | at least one letter |

## Outputs

| name | type | rule |
|---|---|---|
| text | str | a greeting |

## Rules

1. The greeting holds the name.

## Errors

| case | when | what the caller gets |
|---|---|---|
| no name | name is empty | ValueError |

## Examples

| input | expected |
|---|---|
| Ann | Hello Ann |

## Dependencies

None.
`;

const bad = JSON.stringify({
  files: {
    "Handler.py": `"""Greeting: logic."""


def greet(name: str) -> str:
    try:
        return "Hello " + name
    except:
        return ""
`,
  },
});

const cassette: Cassette = {
  ...demoCassette,
  steps: [
    ...demoCassette.steps,
    ...["Broken", "Slow"].map((name) => ({ role: "spec", step: 1, match: [`Feature: ${name}`], reply: spec(name) })),
    ...["Broken", "Slow"].map((name) => ({ role: "spec-qa", step: 1, match: [`# ${name}`], reply: "VALID" })),
    ...[1, 2, 3].map((step) => ({ role: "implement", step, match: ["# Broken"], reply: bad })),
  ],
};

export interface DemoModel extends AsyncDisposable {
  /** ORCH_DEMO_URL */
  readonly url: string;
  /** How many requests hang now. */
  readonly hanging: () => number;
}

export async function startDemoModel(): Promise<DemoModel> {
  const inner = await startCassetteServer(cassette, "invoice");
  const hung = new Set<http.ServerResponse>();
  const front = http.createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const body = Buffer.concat(chunks);
      if (request.headers["x-orch-role"] === "implement" && body.includes("# Slow")) {
        hung.add(response);
        response.on("close", () => hung.delete(response));
        return;
      }
      const to = new URL(`.${(request.url ?? "").replace(/^\/v1/, "")}`, `${inner.baseUrl}/`);
      const headers = { ...request.headers, host: to.host };
      const onward = http.request(to, { method: request.method ?? "GET", headers }, (answer) => {
        response.writeHead(answer.statusCode ?? 500, answer.headers);
        answer.pipe(response);
      });
      onward.on("error", () => response.destroy());
      onward.end(body);
    });
  });
  await new Promise<void>((resolve) => front.listen(0, "127.0.0.1", resolve));
  const address = front.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  return {
    url: `http://127.0.0.1:${port}/v1`,
    hanging: () => hung.size,
    async [Symbol.asyncDispose]() {
      front.closeAllConnections();
      front.close();
      await inner[Symbol.asyncDispose]();
    },
  };
}
