import { OrchError } from "../../model/error.ts";
import { completionScript, isShell, shells } from "../completion/scripts.ts";
import type { MachineContext } from "../context.ts";
import type { Handler } from "../context.ts";

/** What makes a shell complete orch's words, to be read by that shell. @throws OrchError `usage.invalid` */
export const completion: Handler<MachineContext> = (_context, args) => {
  const [shell = ""] = args.words;
  if (!isShell(shell)) {
    const data = { command: "completion" };
    return Promise.reject(
      new OrchError("usage.invalid", `there is completion for ${shells.join(", ")}, not for ${shell}`, { data }),
    );
  }
  const script = completionScript(shell);
  const data = { shell, script, text: script.trimEnd().split("\n") };
  return Promise.resolve({ ok: true, code: 0, summary: `completion for ${shell}`, next: [], data });
};
