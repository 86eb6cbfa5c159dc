// What the editor's own AI features see of Orch: a chat participant, tools, and a provider of models.
const RUN_ID = { type: "string", description: "Id of a run, such as r-20260131-101500-ab12. The newest when absent." };
const TARGET = { type: "string", description: "The feature as domain/Feature. Inferred from the branch when absent." };
const PROMPT = { type: "string", description: "What is wanted, in the person's words." };

const TOOLS = [
  {
    command: "status",
    reference: "orchStatus",
    icon: "$(pulse)",
    title: "Orch status",
    model: "Says what Orch runs, what waits for a decision and what it cost in this repository. Changes nothing.",
    properties: { run: RUN_ID },
  },
  {
    command: "runs",
    reference: "orchRuns",
    icon: "$(list-tree)",
    title: "Orch runs",
    model: "Lists the runs of this repository with their outcome. Changes nothing.",
    properties: {},
  },
  {
    command: "scan",
    reference: "orchScan",
    icon: "$(symbol-class)",
    title: "Orch features",
    model: "Lists the features of this repository by domain, registered or not. Changes nothing.",
    properties: {},
  },
  {
    command: "check",
    reference: "orchCheck",
    icon: "$(checklist)",
    title: "Orch check",
    model: "Lints contract files of .orch/contracts. Changes nothing.",
    properties: { files: { type: "array", items: { type: "string" }, description: "Contract files." } },
    required: ["files"],
  },
  {
    command: "new",
    reference: "orchNew",
    icon: "$(add)",
    title: "Orch new feature",
    model: "Starts a feature: makes its branch, spec.md and files. Asks the person for confirmation.",
    properties: { target: { ...TARGET, description: "The feature as domain/Feature." }, prompt: PROMPT },
    required: ["target", "prompt"],
  },
  {
    command: "modify",
    reference: "orchModify",
    icon: "$(edit)",
    title: "Orch modify feature",
    model: "Amends a feature's spec.md. Asks the person for confirmation.",
    properties: { target: TARGET, prompt: PROMPT },
    required: ["prompt"],
  },
  {
    command: "do",
    reference: "orchDo",
    icon: "$(play)",
    title: "Orch do",
    model:
      "Implements a feature's spec.md with the configured models, judged by gates and tests, and commits when all pass. Asks the person for confirmation.",
    properties: { target: TARGET },
  },
  {
    command: "merge",
    reference: "orchMerge",
    icon: "$(git-merge)",
    title: "Orch merge",
    model: "Merges the feature branch after the gates pass on the result. Asks the person for confirmation.",
    properties: { target: TARGET },
  },
  {
    command: "qa",
    reference: "orchQa",
    icon: "$(checklist)",
    title: "Orch QA",
    model:
      "Audits every source file with the rules and runs every feature's tests, which is the repository's own code. Asks the person for confirmation.",
    properties: {},
  },
];

export function toolContributions(table, { text }) {
  const known = new Set(table.map(({ name }) => name));
  return TOOLS.filter(({ command }) => known.has(command)).map((tool) => ({
    name: `orch_${tool.command}`,
    displayName: text(`tool.${tool.command}.title`, tool.title),
    toolReferenceName: tool.reference,
    canBeReferencedInPrompt: true,
    icon: tool.icon,
    userDescription: text(`tool.${tool.command}.description`, tool.model),
    modelDescription: tool.model,
    inputSchema: {
      type: "object",
      properties: tool.properties,
      ...(tool.required ? { required: tool.required } : {}),
    },
    tags: ["orch"],
  }));
}

const CHAT = {
  new: "Start a feature: domain/Feature and what it does",
  do: "Implement the feature's spec.md",
  modify: "Amend a feature's spec.md",
  run: "Run contracts",
  status: "What runs, what waits for you, what it cost",
};

export function chatContributions(table, { text }) {
  const known = new Set(table.map(({ name }) => name));
  return [
    {
      id: "orch.chat",
      name: "orch",
      fullName: text("chat.name", "Orch"),
      description: text("chat.description", "Features from a spec, judged by gates you can read"),
      isSticky: false,
      commands: Object.entries(CHAT)
        .filter(([name]) => known.has(name))
        .map(([name, words]) => ({ name, description: text(`chat.${name}.description`, words) })),
    },
  ];
}

export function providerContributions({ text }) {
  return [{ vendor: "orch", displayName: text("provider.name", "Orch"), managementCommand: "orch.host.connectModel" }];
}
