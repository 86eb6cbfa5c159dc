// rules/schema.json, for the editor's squiggles: from the zod schema that also makes the errors of the command line.
import { generate as files } from "../../out/shared/model/rule.js";

export function generate() {
  return Promise.resolve(Object.fromEntries(files().map(({ path, text }) => [path, text])));
}
