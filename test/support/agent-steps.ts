import type { Step } from "./scripted-model-server/script.ts";

/** What an agent does for a task: writes these files with its own tools (undefined takes one away), then reports. */
export function agentSteps(
  user: string,
  files: Readonly<Record<string, string | undefined>>,
  report: Readonly<Record<string, unknown>> = {},
): readonly Step[] {
  const toolCalls = Object.entries(files).map(([path, content]) =>
    content === undefined
      ? { name: "bash", arguments: { command: `rm ${path}` } }
      : { name: "write", arguments: { path, content } },
  );
  const said = {
    status: "done",
    summary: "did it",
    files_changed: Object.keys(files),
    acceptance: {},
    concerns: [],
    ...report,
  };
  const usage = { input: 1000, output: 100 };
  return [
    ...(toolCalls.length === 0 ? [] : [{ match: { user, turn: 0 }, reply: { toolCalls, usage } }]),
    { match: { user }, reply: { text: `Done.\n\n${JSON.stringify(said)}`, usage } },
  ];
}
