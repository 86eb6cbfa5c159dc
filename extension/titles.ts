import { type Command, commands, isCommandName } from "../shared/app/commands.ts";

/** What a command is called in this window. */
export type TitleOf = (name: string) => string;

/** By the manifest, which the editor has in its own language; the table's English where it does not know a command. */
export function titlesOf(manifest: unknown): TitleOf {
  const titles = new Map<string, string>();
  for (const { command, title } of contributed(manifest)) titles.set(command, title);
  return (name) => titles.get(`orch.${name}`) ?? english(name);
}

function english(name: string): string {
  if (!isCommandName(name)) return name;
  const command: Command = commands[name];
  return command.title ?? name.charAt(0).toUpperCase() + name.slice(1);
}

/** A title is text, or `{value, original}` where the editor translated it. */
function contributed(manifest: unknown): readonly { readonly command: string; readonly title: string }[] {
  const list: unknown = part(part(manifest, "contributes"), "commands");
  if (!Array.isArray(list)) return [];
  return list.flatMap((row: unknown) => {
    const [command, title] = [part(row, "command"), part(row, "title")];
    const words = typeof title === "string" ? title : part(title, "value");
    return typeof command === "string" && typeof words === "string" ? [{ command, title: words }] : [];
  });
}

function part(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null ? Reflect.get(value, name) : undefined;
}
