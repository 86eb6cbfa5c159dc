// Settings of the editor alone. What is about a project lives in .orch/config.json, where every host reads it.
export function settingContributions({ text }) {
  return {
    title: text("settings.title", "Orch"),
    properties: {
      "orch.nodePath": {
        type: "string",
        default: "",
        scope: "machine",
        order: 1,
        markdownDescription: text(
          "settings.nodePath",
          "Node.js 22.19 or newer that runs Orch's runner. Empty: the editor's own.",
        ),
      },
      "orch.notifications": {
        type: "string",
        enum: ["all", "decisions", "none"],
        enumItemLabels: [
          text("settings.notifications.all", "All"),
          text("settings.notifications.decisions", "Decisions and failures"),
          text("settings.notifications.none", "None"),
        ],
        default: "all",
        scope: "window",
        order: 2,
        markdownDescription: text(
          "settings.notifications",
          "Which notifications appear. Decisions always wait in the Inbox too.",
        ),
      },
      "orch.languageModels.serve": {
        type: "boolean",
        default: true,
        scope: "window",
        order: 3,
        markdownDescription: text(
          "settings.serve",
          "Serve this editor's language models to runs that ask for `vscode-lm/<vendor>/<id>`. The editor asks for consent once.",
        ),
      },
      "orch.codeLens": {
        type: "boolean",
        default: true,
        scope: "window",
        order: 4,
        markdownDescription: text("settings.codeLens", "Actions above spec.md, contracts and Tests files."),
      },
    },
  };
}

export function capabilityContributions({ text }) {
  return {
    untrustedWorkspaces: {
      supported: "limited",
      description: text(
        "capabilities.untrusted",
        "In Restricted Mode runs, features and schemas can be looked at. Commands that run the repository's code, or change it, wait for trust.",
      ),
      restrictedConfigurations: ["orch.nodePath"],
    },
    virtualWorkspaces: {
      supported: false,
      description: text("capabilities.virtual", "Orch needs git and files on a disk."),
    },
  };
}
