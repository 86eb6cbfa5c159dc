import fs from "node:fs";
import path from "node:path";
import { type Command, commandTable } from "../../../shared/app/commands.ts";

/**
 * What the palette offers: the table without the commands of a terminal. A command that the manifest does not hold yet
 * is the drift test's matter (npm run lint), not that of a window.
 */
export const offered: readonly Command[] = commandTable.filter(
  ({ name, terminal }) => terminal !== true && manifest().includes(`"orch.${name}"`),
);

function manifest(): string {
  for (let at = import.meta.dirname; ; at = path.dirname(at)) {
    const file = path.join(at, "package.json");
    if (fs.existsSync(file) && fs.existsSync(path.join(at, "package-lock.json"))) return fs.readFileSync(file, "utf8");
  }
}
