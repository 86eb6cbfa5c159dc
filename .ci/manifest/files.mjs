// Help for the files of the product: one JSON Schema each, out of the schemas that the command line reads with, so that
// its errors and the editor's squiggles agree.
const schemaOf = (name) => `./extension/schemas/${name}.schema.json`;

export function validationContributions(names) {
  const matches = {
    features: [".features.json", "**/.features.json"],
    config: [".orch/config.json"],
    contract: [".orch/contracts/*.json"],
    rules: [".orch/rules/*/*.json", "rules/*/core.json"],
    pack: ["rules/*/pack.json", ".orch/rules/*/pack.json"],
    "model-config": ["**/orch/model_config.json"],
    "model-chain": ["**/orch/model_chain.json"],
    "run-request": [".orch/runs/*/request.json"],
    guard: [".orch/runs/*/*/attempt-*/guard.json"],
    control: [".orch/runs/*/control/*.json"],
    reply: [".orch/runs/*/replies/*.json"],
    runner: [".orch/runs/*/runner.json"],
  };
  return names.map((name) => ({ fileMatch: matches[name], url: schemaOf(name) }));
}

/** The schemas, from the compiled model. `io: input`: what a person writes, so defaults are optional. */
export async function schemas(z, model) {
  const of = {
    features: [model.FeaturesFile, "Orch: registry of features"],
    config: [model.Config, "Orch: project settings"],
    contract: [model.Contract, "Orch: a contract"],
    pack: [model.Pack, "Orch: a language pack"],
    "model-config": [model.ModelConfigFile, "Orch: the model that leads"],
    "model-chain": [model.ModelChainFile, "Orch: models, most capable first"],
    "run-request": [model.RunRequest, "Orch: what a run is to do"],
    guard: [model.GuardReport, "Orch: what the gates said"],
    control: [model.ControlFile, "Orch: control of a run"],
    reply: [model.ReplyFile, "Orch: an answer"],
    runner: [model.RunnerFile, "Orch: who carries out a run"],
  };
  return Object.fromEntries(
    Object.entries(of).map(([name, [schema, title]]) => {
      const made = z.toJSONSchema(schema, { io: "input", unrepresentable: "any", target: "draft-7" });
      return [name, { ...made, title }];
    }),
  );
}

/** As `orch qa` prints a finding: `FAIL rule path:line:column: message`. */
const SEVERITY_AND_RULE = "^(FAIL|WARN) ([^\\s:]+) ";

/** FAIL is no severity of the editor, so it is the default one. */
function matcher(name, pattern) {
  return {
    name,
    owner: "orch.task",
    source: "orch",
    severity: "error",
    applyTo: "allDocuments",
    fileLocation: ["relative", "${workspaceFolder}"],
    pattern,
  };
}

export function taskContributions({ text }) {
  return {
    taskDefinitions: [
      {
        type: "orch",
        required: ["command"],
        properties: {
          command: {
            type: "string",
            enum: ["qa"],
            description: text("task.command", "The Orch command to run"),
          },
          args: {
            type: "array",
            items: { type: "string" },
            description: text("task.args", "More arguments, such as --changed"),
          },
        },
        when: "isWorkspaceTrusted",
      },
    ],
    problemMatchers: [
      matcher("orch", {
        regexp: `${SEVERITY_AND_RULE}([^:]+):(\\d+)(?::(\\d+))?: (.*)$`,
        severity: 1,
        code: 2,
        file: 3,
        line: 4,
        column: 5,
        message: 6,
      }),
      // About a file as a whole.
      matcher("orch-file", {
        regexp: `${SEVERITY_AND_RULE}([^:]+): (.*)$`,
        kind: "file",
        severity: 1,
        code: 2,
        file: 3,
        message: 4,
      }),
    ],
  };
}
