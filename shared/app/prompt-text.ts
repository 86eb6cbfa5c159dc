import { type AbsPath, extName, typedPath } from "../base/paths.ts";
import { OrchError } from "../model/error.ts";
import type { Files } from "../ports/files.ts";

const maxPromptBytes = 500_000;

/**
 * What the person wants: the words after the target, then `--prompt`. A `--prompt` that names an existing `.md` file is
 * read from disk, relative to `cwd`; any other is text. One word that ends in `.md` and is no file is a slip of the keys,
 * never a request.
 *
 * @throws OrchError `file.missing` for such a word; `file.invalid` for a file that is too large or no text
 */
export async function promptText(
  files: Files,
  cwd: AbsPath,
  given: { readonly words: readonly string[]; readonly prompt?: string },
): Promise<string> {
  const words = given.words.join(" ").trim();
  const option =
    given.prompt === undefined ? "" : ((await fileText(files, cwd, given.prompt.trim())) ?? given.prompt).trim();
  return [words, option].filter((part) => part !== "").join("\n\n");
}

async function fileText(files: Files, cwd: AbsPath, name: string): Promise<string | undefined> {
  if (extName(name) !== ".md" || name.includes("\n") || name.includes("\0")) return undefined;
  const place = typedPath(cwd, name);
  const real = await files.realPath(place);
  const stat = real === undefined ? undefined : await files.stat(real);
  if (real === undefined || stat?.kind !== "file") {
    if (/\s/.test(name)) return undefined;
    throw new OrchError("file.missing", `${name} is no file here, so there is no prompt in it`, {
      data: { path: name },
    });
  }
  if (stat.sizeBytes > maxPromptBytes)
    throw new OrchError("file.invalid", `${name} is larger than ${maxPromptBytes} bytes`, { data: { path: name } });
  const bytes = await files.read(real);
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch (error) {
    throw new OrchError("file.invalid", `${name} is not UTF-8 text`, { data: { path: name }, cause: error });
  }
}

/** A file's text for a prompt; undefined for one that is larger, binary or not UTF-8. */
export function fileTextOf(bytes: Uint8Array, maxBytes: number): string | undefined {
  if (bytes.length > maxBytes || bytes.includes(0)) return undefined;
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}
