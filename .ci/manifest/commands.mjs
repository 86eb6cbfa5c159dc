// The palette: every command of shared/app/commands.ts by itself, then what only an editor has. A condition is about
// what the extension knows; before it has loaded nothing is hidden (`!orch.ready`).
const OF_TABLE = {
  new: { icon: "$(add)" },
  do: { icon: "$(play)" },
  modify: { icon: "$(edit)" },
  merge: { icon: "$(git-merge)" },
  undo: { icon: "$(discard)" },
  scan: { icon: "$(refresh)" },
  qa: { icon: "$(checklist)" },
  cancel: { icon: "$(debug-stop)", enablement: "!orch.ready || orch.runActive" },
  resume: { icon: "$(debug-continue)", enablement: "!orch.ready || orch.runResumable" },
  reply: { icon: "$(comment-discussion)", enablement: "!orch.ready || orch.decisionWaiting" },
};

/** Commands of the editor alone. `inPalette: false`: they need the row they were called from. */
const OF_HOST = [
  { id: "host.showRuns", title: "Show Runs", icon: "$(list-tree)" },
  { id: "host.showLog", title: "Show Log", icon: "$(output)" },
  { id: "host.walkthrough", title: "Open the Walkthrough", icon: "$(book)" },
  { id: "host.setKey", title: "Store a Model Provider's Key", icon: "$(key)" },
  { id: "host.removeKey", title: "Remove a Model Provider's Key", icon: "$(trash)" },
  { id: "host.connectModel", title: "Connect a Model", icon: "$(plug)" },
  { id: "host.refresh", title: "Refresh", icon: "$(refresh)" },
  { id: "host.lastDiff", title: "Show the Last Change", icon: "$(diff)" },
  { id: "host.withOptions", title: "Run a Command with Options", icon: "$(settings)" },
  { id: "feature.doWithAgent", title: "Do with an Agent", icon: "$(robot)" },
  { id: "run.cancel", title: "Cancel Run", icon: "$(debug-stop)", inPalette: false },
  { id: "run.resume", title: "Resume Run", icon: "$(debug-continue)", inPalette: false },
  { id: "run.open", title: "Open Event Log", icon: "$(json)", inPalette: false },
  { id: "attempt.prompt", title: "Open Prompt", icon: "$(comment)", inPalette: false },
  { id: "attempt.transcript", title: "Open Transcript", icon: "$(list-flat)", inPalette: false },
  { id: "attempt.diff", title: "Open Diff", icon: "$(diff)", inPalette: false },
  { id: "attempt.report", title: "Open Gate Report", icon: "$(checklist)", inPalette: false },
  { id: "attempt.feedback", title: "Open Feedback", icon: "$(feedback)", inPalette: false },
  { id: "attempt.apply", title: "Apply This Change", icon: "$(check)", inPalette: false },
  { id: "gate.log", title: "Open Gate Log", icon: "$(output)", inPalette: false },
  { id: "finding.open", title: "Open Finding", icon: "$(go-to-file)", inPalette: false },
  { id: "decision.answer", title: "Answer", icon: "$(comment-discussion)", inPalette: false },
  { id: "feature.spec", title: "Open spec.md", icon: "$(book)", inPalette: false },
  { id: "feature.do", title: "Do This Feature", icon: "$(play)", inPalette: false },
  { id: "feature.merge", title: "Merge This Feature", icon: "$(git-merge)", inPalette: false },
];

export function commandContributions(table, { text }) {
  const category = text("command.category", "Orch");
  const ofTable = table.map((command) => {
    const { icon, enablement } = OF_TABLE[command.name] ?? {};
    const title = command.title ?? command.name[0].toUpperCase() + command.name.slice(1);
    return {
      command: `orch.${command.name}`,
      title: text(`command.${command.name}.title`, title),
      category,
      ...(icon ? { icon } : {}),
      ...(enablement ? { enablement } : {}),
    };
  });
  const ofHost = OF_HOST.map(({ id, title, icon }) => ({
    command: `orch.${id}`,
    title: text(`command.${id}.title`, title),
    category,
    icon,
  }));
  return [...ofTable, ...ofHost];
}

/** Every menu. Rows that name a command which does not exist (yet) are left out. */
export function menuContributions(table) {
  const known = new Set([...table.map(({ name }) => `orch.${name}`), ...OF_HOST.map(({ id }) => `orch.${id}`)]);
  const item = (kind) => `view == orch.view.runs && viewItem =~ /\\b${kind}\\b/`;
  const spec = "resourceFilename == spec.md && isWorkspaceTrusted";
  const menus = {
    commandPalette: OF_HOST.filter(({ inPalette }) => inPalette === false).map(({ id }) => ({
      command: `orch.${id}`,
      when: "false",
    })),
    "view/title": [
      { command: "orch.new", when: "view == orch.view.features && isWorkspaceTrusted", group: "navigation@1" },
      { command: "orch.host.refresh", when: "view == orch.view.features", group: "navigation@2" },
      { command: "orch.qa", when: "view == orch.view.features && isWorkspaceTrusted", group: "1_check" },
      { command: "orch.do", when: "view == orch.view.runs && isWorkspaceTrusted", group: "navigation@1" },
      { command: "orch.cancel", when: "view == orch.view.runs && orch.runActive", group: "navigation@2" },
      { command: "orch.host.showLog", when: "view == orch.view.runs", group: "2_log" },
      { command: "orch.host.walkthrough", when: "view == orch.view.runs", group: "3_help" },
    ],
    "view/item/context": [
      { command: "orch.run.cancel", when: item("runActive"), group: "inline" },
      { command: "orch.run.resume", when: item("runResumable"), group: "inline" },
      { command: "orch.run.open", when: item("run"), group: "1_open" },
      { command: "orch.attempt.diff", when: item("hasDiff"), group: "inline" },
      { command: "orch.attempt.prompt", when: item("attempt"), group: "1_open@1" },
      { command: "orch.attempt.transcript", when: item("attempt"), group: "1_open@2" },
      { command: "orch.attempt.diff", when: item("hasDiff"), group: "1_open@3" },
      { command: "orch.attempt.report", when: item("hasReport"), group: "1_open@4" },
      { command: "orch.attempt.feedback", when: item("hasFeedback"), group: "1_open@5" },
      { command: "orch.attempt.apply", when: `${item("canApply")} && isWorkspaceTrusted`, group: "2_use" },
      { command: "orch.gate.log", when: item("hasLog"), group: "inline" },
      { command: "orch.decision.answer", when: "view == orch.view.inbox && viewItem == decision", group: "inline" },
      { command: "orch.feature.spec", when: "view == orch.view.features && viewItem =~ /feature/", group: "inline@1" },
      {
        command: "orch.feature.do",
        when: "view == orch.view.features && viewItem =~ /feature/ && isWorkspaceTrusted",
        group: "inline@2",
      },
      {
        command: "orch.feature.doWithAgent",
        when: "view == orch.view.features && viewItem =~ /feature/ && isWorkspaceTrusted",
        group: "0_do",
      },
      {
        command: "orch.feature.merge",
        when: "view == orch.view.features && viewItem =~ /onBranch/ && isWorkspaceTrusted",
        group: "1_finish",
      },
    ],
    "editor/context": [
      { command: "orch.modify", when: "resourceScheme == file && isWorkspaceTrusted", group: "z_orch@1" },
      { command: "orch.do", when: spec, group: "z_orch@2" },
    ],
    "explorer/context": [
      { command: "orch.modify", when: "resourceScheme == file && isWorkspaceTrusted", group: "z_orch@1" },
      { command: "orch.do", when: spec, group: "z_orch@2" },
    ],
    "editor/title": [{ command: "orch.do", when: spec, group: "navigation" }],
  };
  return Object.fromEntries(
    Object.entries(menus).map(([place, rows]) => [place, rows.filter(({ command }) => known.has(command))]),
  );
}

/** Chords behind one prefix, nothing else: no default key is taken from anybody. */
export function keyContributions(table) {
  const chords = { new: "n", do: "d", merge: "m", status: "s", qa: "q", cancel: "c", modify: "e" };
  return table
    .filter(({ name }) => name in chords)
    .map(({ name }) => ({
      command: `orch.${name}`,
      key: `ctrl+alt+o ${chords[name]}`,
      mac: `cmd+alt+o ${chords[name]}`,
      when: "workspaceFolderCount > 0",
    }));
}
