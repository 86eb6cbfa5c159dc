// The container with its three views, what they say when they are empty, and the walkthrough.
export function viewContributions({ text }) {
  const view = (id, name, icon) => ({
    id: `orch.view.${id}`,
    name: text(`view.${id}.name`, name),
    contextualTitle: text(`view.${id}.title`, `Orch: ${name}`),
    icon,
  });
  return {
    viewsContainers: {
      activitybar: [{ id: "orch", title: text("container.title", "Orch"), icon: "extension/media/orch.svg" }],
    },
    views: {
      orch: [
        view("runs", "Runs", "$(list-tree)"),
        view("features", "Features", "$(symbol-class)"),
        view("inbox", "Inbox", "$(inbox)"),
      ],
    },
    viewsWelcome: [
      {
        view: "orch.view.runs",
        contents: text(
          "welcome.runs.noFolder",
          "Orch works on the repository of a folder.\n[Open a Folder](command:vscode.openFolder)\nOr look at it first, on a sample project that needs no account and no network.\n[Run the Demo](command:orch.demo)",
        ),
        when: "workspaceFolderCount == 0",
      },
      {
        view: "orch.view.runs",
        contents: text(
          "welcome.runs.restricted",
          "This folder is in Restricted Mode: runs can be looked at, nothing of the repository runs.\n[Manage Workspace Trust](command:workbench.trust.manage)",
        ),
        when: "workspaceFolderCount > 0 && !isWorkspaceTrusted",
      },
      {
        view: "orch.view.runs",
        contents: text(
          "welcome.runs.none",
          "No run yet. A feature starts with its name and one sentence.\n[New Feature](command:orch.new)\n[Run the Demo](command:orch.demo)\n[Open the Walkthrough](command:orch.host.walkthrough)",
        ),
        when: "workspaceFolderCount > 0 && isWorkspaceTrusted",
      },
      {
        view: "orch.view.features",
        contents: text("welcome.features.none", "No feature in this repository yet.\n[New Feature](command:orch.new)"),
        when: "workspaceFolderCount > 0 && orch.noFeature",
      },
      {
        view: "orch.view.inbox",
        contents: text("welcome.inbox.none", "No decision is waiting for you."),
      },
    ],
  };
}

export function walkthroughContribution({ text }) {
  const step = (id, title, description, completionEvents, picture) => ({
    id,
    title: text(`walkthrough.${id}.title`, title),
    description: text(`walkthrough.${id}.description`, description),
    media: { svg: `extension/media/${picture}.svg`, altText: text(`walkthrough.${id}.alt`, title) },
    completionEvents,
  });
  return [
    {
      id: "start",
      title: text("walkthrough.title", "Get started with Orch"),
      description: text("walkthrough.description", "From a demo without an account to a tested feature of yours."),
      steps: [
        step(
          "demo",
          "Run the demo",
          "A sample project goes from a sentence to a merged feature, offline, in under a minute. The model's replies are scripted and say so; git, gates and tests are real.\n[Run the Demo](command:orch.demo)",
          ["onCommand:orch.demo"],
          "step-demo",
        ),
        step(
          "diff",
          "See the change",
          "Nothing is taken on trust: every attempt keeps its prompt, its diff and what each gate said.\n[Show the Last Change](command:orch.host.lastDiff)",
          ["onCommand:orch.host.lastDiff"],
          "step-diff",
        ),
        step(
          "repository",
          "Try it on your repository",
          "Name a feature as domain/Feature and say what it does. It gets a branch and a spec.md that you can edit before any code is written.\n[New Feature](command:orch.new)",
          ["onCommand:orch.new"],
          "step-repository",
        ),
        step(
          "model",
          "Connect a model",
          "Use a model that VS Code already offers, without a key; or store a provider's key, which stays in the editor's secret storage.\n[Connect a Model](command:orch.host.connectModel)",
          ["onCommand:orch.host.connectModel"],
          "step-model",
        ),
        step(
          "review",
          "Review and merge",
          "Run Do, follow it in the status bar, look at the change, then merge. Undo discards a feature, and restore brings it back byte for byte.\n[Do](command:orch.do)\n[Merge](command:orch.merge)",
          ["onCommand:orch.merge"],
          "step-review",
        ),
      ],
    },
  ];
}
