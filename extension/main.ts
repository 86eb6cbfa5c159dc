// The entry. It registers, and loads nothing: whatever works is behind `import("./host.ts")`, on first use or once the
// window is idle. The commands are the manifest's, which is generated from the command table.
import * as vscode from "vscode";
import type { Host } from "./host.ts";

/** What `activate` gives to other extensions and to tests. */
export interface OrchApi {
  /** Milliseconds that `activate` took, by the clock and of the processor: a busy machine stretches the first. */
  readonly activationMs: number;
  readonly activationCpuMs: number;
  host(): Promise<Host>;
}

interface Manifest {
  readonly contributes: {
    readonly commands: readonly { readonly command: string }[];
    readonly languageModelTools: readonly { readonly name: string }[];
  };
}

export function activate(context: vscode.ExtensionContext): OrchApi {
  const began = performance.now();
  const cpu = process.cpuUsage();
  const { contributes } = context.extension.packageJSON as Manifest;
  let loading: Promise<Host> | undefined;
  const host = (): Promise<Host> => (loading ??= load(context));
  const late = async <T>(use: (ready: Host) => Promise<T> | T): Promise<T | undefined> => {
    try {
      return await use(await host());
    } catch (error) {
      loading = undefined;
      await broken(error);
      return undefined;
    }
  };
  const own = context.subscriptions;
  for (const { command } of contributes.commands) {
    own.push(
      vscode.commands.registerCommand(command, (...args: unknown[]) => late((ready) => ready.run(command, args))),
    );
  }
  own.push(
    vscode.workspace.registerFileSystemProvider("orch-change", readOnlyTexts(host), { isReadonly: true }),
    vscode.chat.createChatParticipant("orch.chat", async (...turn) => (await host()).chat(...turn)),
    vscode.lm.registerLanguageModelChatProvider("orch", {
      provideLanguageModelChatInformation: async () => (await host()).models.information(),
      provideLanguageModelChatResponse: async (model, messages, _options, progress, token) =>
        (await host()).models.respond(model, messages, progress, token),
      // About four letters a token: nothing is counted or charged here.
      provideTokenCount: async (_model, text) =>
        Math.ceil((typeof text === "string" ? text : JSON.stringify(text)).length / 4),
    }),
  );
  for (const { name } of contributes.languageModelTools) {
    own.push(
      vscode.lm.registerTool<object>(name, {
        prepareInvocation: async (asked) => (await host()).tools.prepare(name, asked.input),
        invoke: async (asked, token) => (await host()).tools.invoke(name, asked.input, token),
      }),
    );
  }
  // After activation has returned: reading the runs is nobody's wait.
  if (vscode.workspace.workspaceFolders !== undefined) setImmediate(() => void late((ready) => ready.ready));
  const { user, system } = process.cpuUsage(cpu);
  return { activationMs: performance.now() - began, activationCpuMs: (user + system) / 1000, host };
}

/** A window that restores a diff asks for its texts before anybody has used Orch in it. */
function readOnlyTexts(host: () => Promise<Host>): vscode.FileSystemProvider {
  const refuse = (): never => {
    throw vscode.FileSystemError.NoPermissions();
  };
  return {
    onDidChangeFile: new vscode.EventEmitter<vscode.FileChangeEvent[]>().event,
    watch: () => new vscode.Disposable(() => undefined),
    stat: async (uri) => (await host()).texts.stat(uri),
    readFile: async (uri) => (await host()).texts.read(uri),
    readDirectory: () => [],
    createDirectory: refuse,
    writeFile: refuse,
    delete: refuse,
    rename: refuse,
  };
}

async function load(context: vscode.ExtensionContext): Promise<Host> {
  const { createHost } = await import("./host.ts");
  return createHost(vscode, context);
}

async function broken(error: unknown): Promise<void> {
  const show = vscode.l10n.t("Show the Extension");
  const why = error instanceof Error ? error.message : String(error);
  const words = vscode.l10n.t("Orch could not start: {0} Reinstall the extension.", why);
  if ((await vscode.window.showErrorMessage(words, show)) === show)
    await vscode.commands.executeCommand("extension.open", "orch.orch");
}
