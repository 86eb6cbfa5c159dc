// A throw-away VS Code server on the loopback address. Everything it writes goes under one scratch folder that goes
// with it. The server is out of the build cache (.ci/vscode-web.mjs), so nothing here needs a network.
import { execFile, spawn } from "node:child_process";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";

function rootOf(from: string): string {
  return fs.existsSync(path.join(from, "tsconfig.json")) && fs.existsSync(path.join(from, "package-lock.json"))
    ? from
    : rootOf(path.dirname(from));
}
export const ROOT = rootOf(import.meta.dirname);

/** User settings that make a run quiet and repeatable. */
const QUIET = {
  "telemetry.telemetryLevel": "off",
  "workbench.startupEditor": "none",
  "workbench.welcomePage.walkthroughs.openOnInstall": false,
  "workbench.tips.enabled": false,
  "workbench.enableExperiments": false,
  "workbench.reduceMotion": "on",
  "workbench.secondarySideBar.defaultVisibility": "hidden",
  "update.showReleaseNotes": false,
  "files.autoSave": "off", // the desktop's default; in the browser it is afterDelay
  "extensions.autoCheckUpdates": false,
  "extensions.autoUpdate": false,
  "extensions.ignoreRecommendations": true,
  "git.openRepositoryInParentFolders": "never",
  "editor.cursorBlinking": "solid",
  "editor.accessibilitySupport": "off",
};

export interface ServerOptions {
  readonly settings?: Readonly<Record<string, unknown>>;
  readonly env?: Readonly<Record<string, string>>;
  /**
   * Needed for a development path and a tests path: a built VS Code ignores them otherwise. It also hides notification
   * toasts and modal editors, so tests that look at those install a .vsix and leave it off.
   */
  readonly driver?: boolean;
  /** False opens folders in Restricted Mode. */
  readonly trust?: boolean;
  readonly vsix?: readonly string[];
  /** Folders of unpacked extensions that are installed as they are. */
  readonly unpacked?: readonly string[];
}

export interface VscodeServer {
  readonly scratch: string;
  readonly pid: number;
  /** Changes user settings; a window reads them when it loads. */
  set(settings: Readonly<Record<string, unknown>>): void;
  remoteUri(file: string): string;
  url(open: { readonly folder?: string; readonly workspace?: string; readonly payload?: readonly string[][] }): string;
  stop(): Promise<void>;
}

async function serverMain(): Promise<string> {
  const installer = (await import(pathToFileURL(path.join(ROOT, ".ci/vscode-web.mjs")).href)) as {
    vscodeServer(): Promise<string>;
  };
  return path.join(await installer.vscodeServer(), "out/server-main.js");
}

export async function startServer(options: ServerOptions = {}): Promise<VscodeServer> {
  const main = await serverMain();
  const scratch = fs.mkdtempSync(path.join(os.tmpdir(), "orch-vscode-"));
  const trust = options.trust ?? true;
  const user = path.join(scratch, "data/User");
  fs.mkdirSync(user, { recursive: true });
  const settings: Record<string, unknown> = {
    ...QUIET,
    ...(trust ? {} : { "security.workspace.trust.startupPrompt": "never" }),
  };
  const set = (more: Readonly<Record<string, unknown>>): void => {
    Object.assign(settings, more);
    fs.writeFileSync(path.join(user, "settings.json"), JSON.stringify(settings, null, 2));
  };
  set(options.settings ?? {});
  const env = environment(scratch, options.env ?? {});
  for (const at of options.unpacked ?? []) {
    fs.cpSync(at, path.join(scratch, "extensions", path.basename(at)), { recursive: true });
  }
  for (const file of options.vsix ?? []) {
    await promisify(execFile)(
      process.execPath,
      [main, "--install-extension", path.resolve(file), "--server-data-dir", scratch],
      { env },
    );
  }
  const args = [
    main,
    ...["--host", "127.0.0.1", "--port", "0", "--without-connection-token", "--accept-server-license-terms"],
    ...["--telemetry-level", "off", "--disable-experiments", "--disable-update-check"],
    // A window that goes away is gone, as on a desktop; a browser's would be waited for.
    ...["--reconnection-grace-time", "3"],
    ...["--disable-getting-started-override", "--force-disable-user-env", "--server-data-dir", scratch],
    ...(options.driver === true ? ["--enable-smoke-test-driver"] : []),
    ...(trust ? ["--disable-workspace-trust"] : []),
  ];
  // A group of its own, so that whatever it forks ends with it: a host stuck in a loop ignores TERM.
  const child = spawn(process.execPath, args, { env, stdio: ["ignore", "pipe", "pipe"], detached: true });
  const pid = child.pid;
  if (pid === undefined) throw new Error("the VS Code server did not start");
  const killGroup = (): void => {
    try {
      process.kill(-pid, "SIGKILL");
    } catch {
      // It is gone already.
    }
  };
  process.once("exit", killGroup);
  const exited = new Promise<void>((resolve) => child.once("exit", () => resolve()));
  const authority = `127.0.0.1:${await listening(child)}`;
  return {
    scratch,
    pid,
    set,
    remoteUri: (file) => `vscode-remote://${authority}${encodeURI(path.resolve(file))}`,
    url({ folder, workspace, payload = [] }) {
      const query = new URLSearchParams();
      if (workspace !== undefined) query.set("workspace", path.resolve(workspace));
      else if (folder === undefined) query.set("ew", "true");
      else query.set("folder", path.resolve(folder));
      query.set("payload", JSON.stringify([["skipWelcome", "true"], ["skipReleaseNotes", "true"], ...payload]));
      return `http://${authority}/?${query}`;
    },
    async stop() {
      child.kill("SIGTERM");
      const late = new Promise<void>((resolve) => setTimeout(resolve, 3000).unref());
      await Promise.race([exited, late]);
      killGroup();
      process.off("exit", killGroup);
      await exited;
      fs.rmSync(scratch, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

/** A home of its own, and nothing by which an integrated terminal or npm would confuse the server, or CI say that nobody is there. */
function environment(scratch: string, own: Readonly<Record<string, string>>): NodeJS.ProcessEnv {
  const inherited = Object.entries(process.env).filter(
    ([name]) => !/^(VSCODE|npm|ORCH|NODE_OPTIONS|CI)(_|$)/.test(name),
  );
  const home = path.join(scratch, "home");
  fs.mkdirSync(home, { recursive: true });
  return {
    ...Object.fromEntries(inherited),
    HOME: home,
    XDG_CONFIG_HOME: path.join(home, ".config"),
    XDG_STATE_HOME: path.join(home, ".local/state"),
    EXTENSIONS_GALLERY: "{}", // it cannot be reached, and its time-outs end in notifications
    ...own,
  };
}

function listening(child: ReturnType<typeof spawn>): Promise<number> {
  return new Promise((resolve, reject) => {
    let seen = "";
    const timer = setTimeout(() => reject(new Error(`the VS Code server does not listen:\n${seen}`)), 60_000);
    const read = (chunk: Buffer): void => {
      seen = (seen + String(chunk)).slice(-20_000);
      const port = /Extension host agent listening on (\d+)/.exec(seen)?.[1];
      if (port === undefined) return;
      clearTimeout(timer);
      resolve(Number(port));
    };
    child.stdout?.on("data", read);
    child.stderr?.on("data", read);
    child.once("exit", (code) => {
      clearTimeout(timer);
      reject(new Error(`the VS Code server ended with ${code}:\n${seen}`));
    });
  });
}
