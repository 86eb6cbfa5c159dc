/** Ids of models that Orch itself gives a meaning. */

/** No AI: writes what a spec's tables determine. */
export const templateId = "builtin/template";

/** Choose for me, whatever model_config.json says. */
export const autoId = "auto";

/** Ids below it are language models of VS Code, served by a window of it. */
export const editorLane = "vscode-lm/";

/** Environment variable in which the extension names a model of that lane that the person has granted already. */
export const grantedModelEnv = "ORCH_GRANTED_MODEL";
