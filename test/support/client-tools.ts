import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import type { ToolCall } from "./scripted-model-server/script.ts";
import { sourceRoot } from "./source-root.ts";

/** How a scripted model makes each real client do something: the clients name and shape their tools differently. */
export interface ClientTools {
  /** The model's id behind `lab/`: codex has tools only for models it knows. */
  readonly model: string;
  /** Some clients let nobody change a file that was not read. */
  read?(dir: string): ToolCall;
  /** Replaces `from` by `to` in greet.js. */
  edit(dir: string, from: string, to: string): ToolCall;
  shell(command: string): ToolCall;
}

const file = (dir: string): string => `${dir}/greet.js`;

export const clientTools = {
  pi: {
    model: "scripted",
    edit: (_dir, from, to) => ({
      name: "edit",
      arguments: { path: "greet.js", edits: [{ oldText: from, newText: to }] },
    }),
    shell: (command) => ({ name: "bash", arguments: { command } }),
  },
  codex: {
    model: "gpt-5.5",
    edit: (_dir, from, to) => ({
      name: "apply_patch",
      arguments: `*** Begin Patch\n*** Update File: greet.js\n@@\n-  return "${from}" + name;\n+  return "${to}" + name;\n*** End Patch`,
    }),
    shell: (command) => ({ name: "exec_command", arguments: { cmd: command } }),
  },
  claude: {
    model: "claude-sonnet-4-5",
    read: (dir) => ({ name: "Read", arguments: { file_path: file(dir) } }),
    edit: (dir, from, to) => ({ name: "Edit", arguments: { file_path: file(dir), old_string: from, new_string: to } }),
    shell: (command) => ({ name: "Bash", arguments: { command, description: "run" } }),
  },
  opencode: {
    model: "scripted",
    read: (dir) => ({ name: "read", arguments: { filePath: file(dir) } }),
    edit: (dir, from, to) => ({ name: "edit", arguments: { filePath: file(dir), oldString: from, newString: to } }),
    shell: (command) => ({ name: "bash", arguments: { command, description: "run" } }),
  },
  gemini: {
    model: "gemini-2.5-pro",
    edit: (dir, from, to) => ({
      name: "replace",
      arguments: { file_path: file(dir), instruction: "greet", old_string: from, new_string: to },
    }),
    shell: (command) => ({ name: "run_shell_command", arguments: { command, description: "run" } }),
  },
  copilot: {
    model: "scripted",
    read: (dir) => ({ name: "view", arguments: { path: file(dir) } }),
    edit: (dir, from, to) => ({ name: "edit", arguments: { path: file(dir), old_str: from, new_str: to } }),
    shell: (command) => ({ name: "bash", arguments: { command, description: "run" } }),
  },
  cline: {
    model: "scripted",
    edit: (dir, from, to) => ({ name: "editor", arguments: { path: file(dir), old_text: from, new_text: to } }),
    shell: (command) => ({ name: "run_commands", arguments: { commands: [command] } }),
  },
} as const satisfies Readonly<Record<string, ClientTools>>;

export type ClientName = keyof typeof clientTools;

/** The program of a client, or undefined where it could not be had: its tests skip by name then. */
export function clientProgram(name: ClientName): string | undefined {
  const home = name === "pi" ? sourceRoot : path.join(clientCache, `${name}-${pinnedVersion(name)}`);
  const at = path.join(home, "node_modules", ".bin", name);
  const ready = name === "pi" || fs.existsSync(path.join(home, ".installed"));
  return ready && fs.existsSync(at) ? at : undefined;
}

/** Tests get a home of their own; the cache stays the machine's. */
const clientCache = path.join(
  process.env["XDG_CACHE_HOME"] ?? path.join(os.homedir(), ".cache"),
  "orch-build",
  "clients",
);

function pinnedVersion(name: string): string {
  const rows = JSON.parse(fs.readFileSync(path.join(sourceRoot, ".ci", "clients.json"), "utf8")) as Readonly<
    Record<string, { readonly version: string }>
  >;
  return rows[name]?.version ?? "";
}
