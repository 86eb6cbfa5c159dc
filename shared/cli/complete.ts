import { offerFor } from "../app/completion/offer.ts";
import { stripControls } from "../base/lines.ts";

export interface CompleteProcess {
  /** `__complete -- word word now`, the last one as far as it is typed. */
  readonly argv: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly platform: NodeJS.Platform;
  readonly moduleUrl: string;
  readonly cwd: () => string;
  readonly stdout: (text: string) => void;
}

/**
 * Answers a shell's completion: a line each, `value TAB summary`; `:path TAB prefix` alone asks the shell for files. A
 * person waits for it, so it loads little, and it says nothing rather than anything wrong: it never fails.
 */
export async function complete(process: CompleteProcess): Promise<void> {
  try {
    const [, separator, ...words] = process.argv;
    const given = separator === "--" ? words : process.argv.slice(1);
    const { env, platform, moduleUrl } = process;
    const offer = await offerFor(given, { env, platform, moduleUrl, cwd: process.cwd() });
    if (offer.kind === "path") {
      process.stdout(`:path\t${offer.prefix}\n`);
      return;
    }
    const lines = offer.words.filter(isPlain).map(({ value, summary }) => `${value}\t${oneLine(summary)}\n`);
    process.stdout(lines.join(""));
  } catch {
    // A shell would print it into the middle of what is being typed.
  }
}

/**
 * Names come from a repository, and a shell may put them on the command line as they are: a name that a shell would read
 * as more than a word is not offered.
 */
function isPlain({ value }: { readonly value: string }): boolean {
  return /^[\p{L}\p{N}_./:@+=,-]+$/u.test(value);
}

function oneLine(text: string): string {
  return stripControls(text).replace(/[\t\r\n]+/g, " ");
}
