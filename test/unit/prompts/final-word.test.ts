import assert from "node:assert/strict";
import { readFinal } from "../../../shared/prompts/final-word.ts";

const whole = {
  status: "done",
  summary: "greets",
  filesChanged: ["greet.js"],
  acceptance: { A1: "by the test" },
  concerns: [],
};
const json = `{"status": "done", "summary": "greets", "files_changed": ["greet.js"], "acceptance": {"A1": "by the test"}, "concerns": []}`;

describe("a worker's final JSON", () => {
  const cases: readonly (readonly [string, string, unknown])[] = [
    ["alone", json, whole],
    ["after prose and in a fence", `All done.\n\n\`\`\`json\n${json}\n\`\`\`\nBye.`, whole],
    ["the last one counts", `${json.replace("done", "failed")}\nThen I mended it:\n${json}`, whole],
    ["with a comma too many and raw line feeds", json.replace('"greets"', '"greets\n"').replace("[]}", "[],}"), whole],
    [
      "other words for the status",
      `{"status": "Completed", "summary": "x", "files_changed": []}`,
      { status: "done", summary: "x", filesChanged: [], acceptance: {}, concerns: [] },
    ],
    [
      "lists where objects were asked for",
      `{"status":"blocked","files_changed":[{"path":"a.py"}],"acceptance":[{"id":"A1","how":"not met"}],"concerns":"no network"}`,
      { status: "blocked", filesChanged: ["a.py"], acceptance: { A1: "not met" }, concerns: ["no network"] },
    ],
    ["cut off", json.slice(0, -20), undefined],
    ["none", "Done: greet() now says hello.", undefined],
    ["an object of something else", `{"status": 200, "body": "ok"}`, undefined],
    [
      "a nested one is not taken for the whole",
      `{"concerns": [], "status": "done", "summary": "{\\"status\\": \\"failed\\"}"}`,
      {
        status: "done",
        summary: `{"status": "failed"}`,
        filesChanged: [],
        acceptance: {},
        concerns: [],
      },
    ],
  ];
  for (const [name, text, expected] of cases) it(name, () => assert.deepEqual(readFinal(text), expected));
});
