// The English words of the extension's code, as translators get them: every first argument of `t("...")` in extension/ and
// in the words that all hosts share, and the texts that a view takes from the model and from the command table.
import fs from "node:fs";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { ROOT } from "../shell.mjs";

const CALL = /\bt\(\s*("(?:\\.|[^"\\])*")/g;

export async function generate() {
  const words = new Set(await ofData());
  const own = fs.readdirSync(path.join(ROOT, "extension")).filter((name) => name.endsWith(".ts"));
  for (const file of [...own.map((name) => `extension/${name}`), "shared/events/words.ts"]) {
    const text = fs.readFileSync(path.join(ROOT, file), "utf8");
    for (const [, literal] of text.matchAll(CALL)) words.add(JSON.parse(literal));
  }
  const bundle = Object.fromEntries([...words].toSorted().map((word) => [word, word]));
  return { "extension/l10n/bundle.l10n.json": `${JSON.stringify(bundle, null, 2)}\n` };
}

/** Validation of names, and what an input box or a picker says of an argument or option. */
async function ofData() {
  const { nameFaults } = await compiled("model/names");
  const { commandTable } = await compiled("app/commands");
  const { offeredOptions } = await compiled("app/given-words");
  const offered = commandTable.filter(({ terminal }) => terminal !== true);
  return [
    ...Object.values(nameFaults),
    ...offered.flatMap(({ args }) => args.filter(({ name }) => name !== "prompt").map(({ summary }) => summary)),
    ...commandTable.flatMap((command) => offeredOptions(command).map(({ summary }) => summary)),
  ];
}

async function compiled(name) {
  return await import(pathToFileURL(path.join(ROOT, "out/shared", `${name}.js`)).href);
}
