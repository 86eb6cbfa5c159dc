// Long because one row for each recorded run of a real client.
import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { gistOf, readTranscript, transcripts } from "../../../support/worker-transcript.ts";

/** How it is judged | calls, tools, input+cached>output, money, what was denied | the words. `?` is unknown, not 0. */
const expected: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  claude: {
    "bad-tool-arguments": "done | 2 calls 1 tools 1200+900>62 $0.004800 | Done: greet() now says hello.",
    "dont-ask": "done | 4 calls 3 tools 2300+1800>152 $0.009720 denied Edit,Bash | Done: greet() now says hello.",
    "empty-body":
      "failed models | 0 calls 0 tools ? $? | claude: API Error: API returned an empty or malformed response (HTTP 200) — check for a pr",
    "empty-reply": "failed unusable | 0 calls 0 tools 2000+0>0 $0.006000 | claude gave nothing usable: an empty reply",
    "error-401":
      "failed models | 0 calls 0 tools ? $? | claude: Failed to authenticate. API Error: 401 Incorrect API key provided",
    "error-429-retry-after-1h":
      "failed models | 0 calls 0 tools ? $? | claude: API Error: Request rejected (429) · Quota exhausted",
    "error-429-retry-after-2s":
      "failed models | 0 calls 0 tools ? $? | claude: API Error: Request rejected (429) · Rate limit reached",
    "error-429":
      "failed models | 0 calls 0 tools ? $? | claude: API Error: Request rejected (429) · Rate limit reached for requests",
    "error-500-after-edit":
      "failed models | 2 calls 2 tools 2000+0>100 $0.007500 | claude: API Error: 500 The server had an error. This is a server-side issue, usually tempo",
    "error-500":
      "failed models | 0 calls 0 tools ? $? | claude: API Error: 500 The server had an error. This is a server-side issue, usually tempo",
    "plan-mode": "done | 4 calls 3 tools 2300+1800>152 $0.009720 denied Edit,Bash | Done: greet() now says hello.",
    "raw-tool-call-markers":
      "failed unusable | 1 calls 0 tools 1000+0>50 $0.003750 | claude gave nothing usable: raw tool-call markup (<tool_calls>) instead of an answer",
    "read-only": "done | 4 calls 3 tools 2300+1800>152 $0.009720 | Done: greet() now says hello.",
    "resume-second-run": "done | 1 calls 0 tools 1000+0>50 $0.008550 | hello from the script",
    "success-edit": "done | 4 calls 3 tools 2300+1800>152 $0.009720 denied Bash | Done: greet() now says hello.",
    thinking: "done | 1 calls 0 tools 1000+0>50 $0.003750 | hello from the script",
    "timeout-sigterm": "failed environment | 0 calls 0 tools ? $? | claude was ended from outside (SIGTERM)",
    "token-limit":
      "failed unusable | 4 calls 0 tools 4000+0>200 $0.015000 | claude gave nothing usable: the reply was cut off by the token limit",
    "truncated-stream":
      "failed models | 0 calls 0 tools 2000+0>2 $0.006240 | claude: API Error: API returned an empty or malformed response (HTTP 200) — check for a pr",
    "unknown-tool": "done | 2 calls 1 tools 1200+900>62 $0.004800 | Done: greet() now says hello.",
  },
  cline: {
    "bad-tool-arguments": "done | 2 calls 1 tools 1200+900>62 $? | Done: greet() now says hello.",
    "empty-body": "failed models | 1 calls 0 tools ? $? | cline: Response stream ended without a finish reason.",
    "empty-reply": "failed unusable | 1 calls 0 tools 3000+0>0 $? | cline gave nothing usable: the reply is empty",
    "error-401": "failed models | 1 calls 0 tools ? $? | cline: Incorrect API key provided",
    "error-429-retry-after-1h": "failed models | 1 calls 0 tools ? $? | cline: Quota exhausted",
    "error-429-retry-after-2s": "failed models | 1 calls 0 tools ? $? | cline: Rate limit reached",
    "error-429": "failed models | 1 calls 0 tools ? $? | cline: Rate limit reached for requests",
    "error-500-after-edit": "failed models | 3 calls 2 tools 2000+0>100 $? | cline: The server had an error",
    "error-500": "failed models | 1 calls 0 tools ? $? | cline: The server had an error",
    "plan-mode": "done | 2 calls 1 tools 2300+1800>152 $? | Done: greet() now says hello.",
    "raw-tool-call-markers":
      "failed unusable | 1 calls 0 tools 1000+0>50 $? | cline gave nothing usable: raw tool-call markup (<tool_calls>) instead of an answer",
    "success-edit": "done | 4 calls 3 tools 2300+1800>152 $? | Done: greet() now says hello.",
    thinking: "done | 1 calls 0 tools 1000+0>50 $? | hello from the script",
    "timeout-sigterm": "failed environment | 1 calls 0 tools ? $? | cline was ended from outside (SIGKILL)",
    "token-limit":
      "failed unusable | 3 calls 0 tools 4000+0>200 $? | cline gave nothing usable: the reply was cut off by the token limit",
    "truncated-stream": "failed models | 1 calls 0 tools ? $? | cline: Response stream ended without a finish reason.",
    "unknown-tool": "done | 2 calls 1 tools 1200+900>62 $? | Done: greet() now says hello.",
  },
  codex: {
    "bad-tool-arguments": "done | 1 calls 0 tools 1200+900>62 $? | Done: greet() now says hello.",
    "empty-body":
      "failed models | 1 calls 0 tools ? $? | codex: stream disconnected before completion: stream closed before response.completed",
    "empty-reply": "failed unusable | 1 calls 0 tools 1000+0>0 $? | codex gave nothing usable: an empty reply",
    "error-401":
      "failed models | 1 calls 0 tools ? $? | codex: unexpected status 401 Unauthorized: Incorrect API key provided, url: http://127.0.0",
    "error-429-retry-after-1h": "failed environment | 1 calls 0 tools ? $? | codex was ended from outside (SIGTERM)",
    "error-429-retry-after-2s":
      "failed models | 1 calls 0 tools ? $? | codex: exceeded retry limit, last status: 429 Too Many Requests",
    "error-429":
      "failed models | 1 calls 0 tools ? $? | codex: exceeded retry limit, last status: 429 Too Many Requests",
    "error-500-after-edit":
      "failed models | 2 calls 1 tools ? $? | codex: We’re currently experiencing high demand, which may cause temporary errors.",
    "error-500":
      "failed models | 1 calls 0 tools ? $? | codex: We’re currently experiencing high demand, which may cause temporary errors.",
    "patch-fails-home-in-tmp":
      "done | 2 calls 1 tools 1300+1800>102 $? denied apply_patch | Done: greet() now says hello.",
    "raw-tool-call-markers":
      "failed unusable | 1 calls 0 tools 1000+0>50 $? | codex gave nothing usable: raw tool-call markup (<tool_calls>) instead of an answer",
    "read-only-native-apply-patch":
      "done | 2 calls 1 tools 1300+1800>102 $? denied apply_patch | Done: greet() now says hello.",
    "read-only": "done | 2 calls 1 tools 1300+1800>102 $? denied apply_patch | Done: greet() now says hello.",
    "resume-second-run": "done | 1 calls 0 tools 2200+900>112 $? | hello from the script",
    "sandbox-denied-command": "done | 1 calls 0 tools 2000+0>100 $? | done",
    "success-edit-native-apply-patch": "done | 3 calls 2 tools 1300+1800>102 $? | Done: greet() now says hello.",
    "success-edit": "done | 3 calls 2 tools 1300+1800>102 $? | Done: greet() now says hello.",
    thinking: "done | 1 calls 0 tools 1000+0>50 $? | hello from the script",
    "timeout-sigterm": "failed environment | 1 calls 0 tools ? $? | codex was ended from outside (SIGTERM)",
    "token-limit":
      "failed unusable | 1 calls 0 tools ? $? | codex gave nothing usable: the reply was cut off by the token limit",
    "truncated-stream":
      "failed models | 1 calls 0 tools ? $? | codex: stream disconnected before completion: stream closed before response.completed",
    "unknown-tool": "done | 1 calls 0 tools 1200+900>62 $? | Done: greet() now says hello.",
  },
  copilot: {
    "bad-tool-arguments": "done | 1 calls 1 tools ? $? | Done: greet() now says hello.",
    "empty-body":
      "failed models | 3 calls 0 tools ? $? | copilot: Failed to finalize chat-completions stream: request ended without sending any chu",
    "empty-reply": "failed unusable | 1 calls 0 tools ? $? | copilot gave nothing usable: the reply is empty",
    "error-401":
      "failed models | 3 calls 0 tools ? $? | copilot: Authentication failed with provider at http://127.0.0.1:<port>/v1 (HTTP 401). Che",
    "error-429-retry-after-1h": "failed models | 1 calls 0 tools ? $? | copilot: 429 Quota exhausted",
    "error-429-retry-after-2s": "failed models | 4 calls 0 tools ? $? | copilot: 429 Rate limit reached",
    "error-429": "failed models | 4 calls 0 tools ? $? | copilot: 429 Rate limit reached for requests",
    "error-500-after-edit": "failed models | 2 calls 1 tools ? $? | copilot: 500 The server had an error",
    "error-500": "failed models | 3 calls 0 tools ? $? | copilot: 500 The server had an error",
    "raw-tool-call-markers":
      "failed unusable | 1 calls 0 tools ? $? | copilot gave nothing usable: raw tool-call markup (<tool_calls>) instead of an answer",
    "read-only": "done | 1 calls 0 tools ? $? | Done: greet() now says hello.",
    "resume-second-run": "done | 1 calls 0 tools ? $? | hello from the script",
    "success-edit": "done | 4 calls 3 tools ? $? | Done: greet() now says hello.",
    thinking: "done | 1 calls 0 tools ? $? | hello from the script",
    "timeout-sigterm": "failed environment | 1 calls 0 tools ? $? | copilot was ended from outside (SIGTERM)",
    "token-limit": "done | 2 calls 0 tools ? $? | This answer ran out of tok",
    "truncated-stream":
      "failed models | 2 calls 0 tools ? $? | copilot: Failed to finalize chat-completions stream: missing finish_reason for choice 0",
    "unknown-tool": "done | 1 calls 1 tools ? $? | Done: greet() now says hello.",
    "write-denied": "failed unusable | 1 calls 0 tools ? $? | copilot gave nothing usable: an empty reply",
  },
  gemini: {
    "bad-tool-arguments": "done | 2 calls 1 tools 1200+900>62 $? | Done: greet() now says hello.",
    "empty-body": "failed models | 0 calls 0 tools ? $? | gemini: Model stream ended without a finish reason.",
    "empty-reply": "failed unusable | 0 calls 0 tools 2000+0>0 $? | gemini gave nothing usable: the reply is empty",
    "error-401": "failed models | 0 calls 0 tools ? $? | gemini: 401 Incorrect API key provided",
    "error-429-retry-after-1h":
      "failed models | 0 calls 0 tools ? $? | gemini: Quota exhausted Please wait and try again later. To increase your limits, request ",
    "error-429-retry-after-2s":
      "failed models | 0 calls 0 tools ? $? | gemini: Rate limit reached Please wait and try again later. To increase your limits, reque",
    "error-429":
      "failed models | 0 calls 0 tools ? $? | gemini: Rate limit reached for requests Please wait and try again later. To increase your ",
    "error-500-after-edit": "failed models | 2 calls 2 tools 2000+0>100 $? | gemini: 500 The server had an error",
    "error-500": "failed models | 0 calls 0 tools ? $? | gemini: 500 The server had an error",
    "plan-mode":
      "done | 4 calls 3 tools 2300+1800>152 $? denied replace,run_shell_command | Done: greet() now says hello.",
    "raw-tool-call-markers":
      "failed unusable | 1 calls 0 tools 1000+0>50 $? | gemini gave nothing usable: raw tool-call markup (<tool_calls>) instead of an answer",
    "resume-second-run": "done | 1 calls 0 tools 1000+0>50 $? | hello from the script",
    "success-edit": "done | 4 calls 3 tools 2300+1800>152 $? | Done: greet() now says hello.",
    thinking: "done | 1 calls 0 tools 1000+0>50 $? | hello from the script",
    "timeout-sigterm": "failed environment | 0 calls 0 tools ? $? | gemini was ended from outside (SIGKILL)",
    "token-limit": "done | 1 calls 0 tools 1000+0>50 $? | This answer ran out of tok",
    "truncated-stream": "failed models | 1 calls 0 tools ? $? | gemini: Model stream ended without a finish reason.",
    "unknown-tool": "done | 2 calls 1 tools 1200+900>62 $? denied launch_rocket | Done: greet() now says hello.",
  },
  opencode: {
    "bad-tool-arguments": "done | 2 calls 1 tools 1200+900>62 $0.001414 | Done: greet() now says hello.",
    "empty-body": "failed environment | 12 calls 0 tools ? $? | opencode was ended from outside (SIGTERM)",
    "empty-reply":
      "failed unusable | 1 calls 0 tools 1000+0>0 $0.001000 | opencode gave nothing usable: an empty reply",
    "error-401": "failed models | 0 calls 0 tools ? $? | opencode: 401 Incorrect API key provided",
    "error-429-retry-after-1h": "failed environment | 0 calls 0 tools ? $? | opencode was ended from outside (SIGTERM)",
    "error-429-retry-after-2s": "failed models | 0 calls 0 tools ? $? | opencode: 429 Rate limit reached",
    "error-429": "failed models | 0 calls 0 tools ? $? | opencode: 429 Rate limit reached for requests",
    "error-500-after-edit":
      "failed models | 2 calls 2 tools 2000+0>100 $0.002200 | opencode: 500 The server had an error",
    "error-500": "failed models | 0 calls 0 tools ? $? | opencode: 500 The server had an error",
    "permission-ask-no-auto":
      "failed protocol | 2 calls 2 tools 1100+900>90 $0.001370 denied edit | opencode ended with exit code 0 and its stream has no end: ! permission requested: edit (g",
    "raw-tool-call-markers":
      "failed unusable | 1 calls 0 tools 1000+0>50 $0.001100 | opencode gave nothing usable: raw tool-call markup (<tool_calls>) instead of an answer",
    "resume-second-run": "done | 1 calls 0 tools 1000+0>50 $0.001100 | hello from the script",
    "success-edit": "done | 4 calls 3 tools 2300+1800>152 $0.002784 | Done: greet() now says hello.",
    thinking: "done | 1 calls 0 tools 1000+0>50 $0.001100 | hello from the script",
    "timeout-sigterm": "failed environment | 0 calls 0 tools ? $? | opencode was ended from outside (SIGTERM)",
    "token-limit":
      "failed unusable | 1 calls 0 tools 1000+0>50 $0.001100 | opencode gave nothing usable: the reply was cut off by the token limit",
    "truncated-stream": "failed environment | 8 calls 0 tools ? $? | opencode was ended from outside (SIGTERM)",
    "unknown-tool": "done | 2 calls 1 tools 1200+900>62 $0.001414 | Done: greet() now says hello.",
  },
  pi: {
    "bad-tool-arguments": "done | 2 calls 0 tools 1200+900>62 $0.001414 | Done: greet() now says hello.",
    "empty-body": "failed models | 2 calls 0 tools ? $? | pi: Stream ended without finish_reason",
    "empty-reply": "failed unusable | 1 calls 0 tools 1000+0>0 $0.001000 | pi gave nothing usable: an empty reply",
    "error-401": "failed models | 2 calls 0 tools ? $? | pi: 401 Incorrect API key provided",
    "error-429-retry-after-1h": "failed models | 2 calls 0 tools ? $? | pi: 429 Quota exhausted",
    "error-429-retry-after-2s": "failed models | 2 calls 0 tools ? $? | pi: 429 Rate limit reached",
    "error-429": "failed models | 2 calls 0 tools ? $? | pi: 429 Rate limit reached for requests",
    "error-500-after-edit": "failed models | 2 calls 0 tools 1000+0>50 $0.001100 | pi: 500 The server had an error",
    "error-500": "failed models | 2 calls 0 tools ? $? | pi: 500 The server had an error",
    "raw-tool-call-markers":
      "failed unusable | 1 calls 0 tools 1000+0>50 $0.001100 | pi gave nothing usable: raw tool-call markup (<tool_calls>) instead of an answer",
    "read-only": "done | 1 calls 0 tools 200+900>12 $0.000314 | Done: greet() now says hello.",
    "resume-second-run": "done | 1 calls 0 tools 1000+0>50 $0.001100 | hello from the script",
    "success-edit": "done | 4 calls 3 tools 2300+1800>152 $0.002784 | Done: greet() now says hello.",
    thinking: "done | 1 calls 0 tools 1000+0>50 $0.001100 | hello from the script",
    "timeout-sigterm": "failed environment | 0 calls 0 tools ? $? | pi was ended from outside (SIGTERM)",
    "token-limit":
      "failed unusable | 1 calls 0 tools 1000+0>50 $0.001100 | pi gave nothing usable: the reply was cut off by the token limit",
    "truncated-stream": "failed models | 2 calls 0 tools ? $? | pi: Stream ended without finish_reason",
    "unknown-tool": "done | 2 calls 0 tools 1200+900>62 $0.001414 | Done: greet() now says hello.",
  },
  "pi-0.73": {
    "error-429": "failed models | 3 calls 0 tools ? $? | pi-0.73: 429 Rate limit reached for requests",
    "success-edit": "done | 4 calls 3 tools 2300+1800>152 $0.002784 | Done: greet() now says hello.",
  },
};

describe("recorded runs of real clients", () => {
  for (const [client, cases] of Object.entries(expected)) {
    for (const [name, gist] of Object.entries(cases)) {
      it(`${client}: ${name}`, () => assert.equal(gistOf(client, name), gist));
    }
  }

  it("each recording has a row", () => {
    const recorded = Object.fromEntries(
      fs
        .readdirSync(transcripts)
        .map((client) => [
          client,
          fs
            .readdirSync(path.join(transcripts, client))
            .flatMap((file) => (file.endsWith(".jsonl") ? [file.slice(0, -".jsonl".length)] : [])),
        ]),
    );
    const rows = Object.fromEntries(Object.entries(expected).map(([client, cases]) => [client, Object.keys(cases)]));
    assert.deepEqual(rows, recorded);
  });

  it("copilot's tokens stand in the file it writes", () => {
    assert.deepEqual(readTranscript("copilot", "success-edit", "usage-file.json").end.usage, {
      input: 2300,
      output: 152,
      cacheRead: 1800,
      costUsd: "unknown",
    });
  });
});
