// docs/: a page for each command from the command table, and the events from the model. Below its mark a page is written
// by hand and kept as it is; what stands above it comes from the code, so it cannot say anything else.
import path from "node:path";
import { pathToFileURL } from "node:url";
import * as z from "zod";
import { commandIndex, commandPage } from "../docs/commands.mjs";
import { eventsPage } from "../docs/events.mjs";
import { ROOT } from "../shell.mjs";

const MARK = "<!-- Written by hand from here on; kept by npm run gen. -->";

export async function generate(readText) {
  const table = await compiled("app/commands");
  const { errorTable } = await compiled("model/error-table");
  const { exitCodes } = await compiled("model/exit-code");
  const { eventBodies, eventVersion } = await compiled("model/event");
  const files = {};
  for (const command of table.commandTable) {
    const file = `docs/commands/${command.name}.md`;
    files[file] = `${commandPage(command, table)}\n${MARK}\n${byHand(readText(file))}`;
  }
  files["docs/commands/README.md"] = commandIndex(table, errorTable, exitCodes);
  files["docs/events.md"] = eventsPage(eventBodies, eventVersion, z);
  return files;
}

function byHand(text = "") {
  const at = text.indexOf(MARK);
  return at === -1 ? "" : text.slice(at + MARK.length + 1);
}

async function compiled(name) {
  return await import(pathToFileURL(path.join(ROOT, "out/shared", `${name}.js`)).href);
}
