// package.json's VS Code part, its English words and the JSON Schemas: made from the command table and the model, so a
// new command or field shows up by itself. Only the keys named here are touched.
import path from "node:path";
import { pathToFileURL } from "node:url";
import { format } from "oxfmt";
import * as z from "zod";
import { chatContributions, providerContributions, toolContributions } from "../manifest/ai.mjs";
import { commandContributions, keyContributions, menuContributions } from "../manifest/commands.mjs";
import { schemas, taskContributions, validationContributions } from "../manifest/files.mjs";
import { capabilityContributions, settingContributions } from "../manifest/settings.mjs";
import { createTexts } from "../manifest/texts.mjs";
import { viewContributions, walkthroughContribution } from "../manifest/views.mjs";
import { ROOT } from "../shell.mjs";

const MODEL = ["feature", "config", "contract", "pack", "run-files", "gate-report"];

export async function generate(readText) {
  const { commandTable: all } = await compiled("app/commands");
  const commandTable = all.filter(({ terminal }) => terminal !== true);
  const model = Object.assign({}, ...(await Promise.all(MODEL.map((name) => compiled(`model/${name}`)))));
  const made = await schemas(z, model);
  const rules = readText("rules/schema.json");
  if (rules !== undefined) made.rules = JSON.parse(rules);
  const texts = createTexts();
  const old = JSON.parse(readText("package.json"));
  const manifest = { ...old, ...marketplace(texts), contributes: contributes(commandTable, Object.keys(made), texts) };
  const files = {
    "package.json": `${JSON.stringify(manifest, null, 2)}\n`,
    "package.nls.json": `${JSON.stringify(texts.english, null, 2)}\n`,
  };
  for (const [name, schema] of Object.entries(made)) {
    const file = `extension/schemas/${name}.schema.json`;
    files[file] = await laidOut(file, JSON.stringify(schema, null, 2));
  }
  return files;
}

function contributes(table, schemaNames, texts) {
  return {
    commands: commandContributions(table, texts),
    menus: menuContributions(table),
    keybindings: keyContributions(table),
    ...viewContributions(texts),
    walkthroughs: walkthroughContribution(texts),
    configuration: settingContributions(texts),
    jsonValidation: validationContributions(schemaNames),
    ...taskContributions(texts),
    chatParticipants: chatContributions(table, texts),
    languageModelTools: toolContributions(table, texts),
    languageModelChatProviders: providerContributions(texts),
  };
}

function marketplace(texts) {
  return {
    displayName: texts.text("displayName", "Orch"),
    description: texts.text("description", "AI coding work from your editor, judged by gates you can read."),
    icon: "extension/media/icon.png",
    categories: ["AI", "Testing", "SCM Providers"],
    keywords: ["agent", "spec", "gates", "review", "worktree", "llm", "chat", "quality"],
    galleryBanner: { color: "#14213d", theme: "dark" },
    pricing: "Free",
    extensionKind: ["workspace"],
    l10n: "./extension/l10n",
    activationEvents: ["workspaceContains:.features.json", "workspaceContains:.orch/runs", "onFileSystem:orch-change"],
    capabilities: capabilityContributions(texts),
  };
}

async function compiled(name) {
  return await import(pathToFileURL(path.join(ROOT, "out/shared", `${name}.js`)).href);
}

async function laidOut(file, text) {
  const { code, errors } = await format(file, `${text}\n`, { printWidth: 120 });
  if (errors.length > 0) throw new Error(`${file}: ${errors[0].message}`);
  return code;
}
