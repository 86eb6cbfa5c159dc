import { execFile, spawnSync } from "node:child_process";
import { chmod, mkdir, writeFile } from "node:fs/promises";
import path from "node:path";
import { fileURLToPath } from "node:url";
import type { TempRepo } from "./temp-repo.ts";

const extension = import.meta.url.endsWith(".ts") ? "ts" : "js";
const main = fileURLToPath(new URL(`../../shared/cli/main.${extension}`, import.meta.url));

/** A repository with something to complete, and an environment whose PATH has `orch` as a person has it. */
export interface ShellPlace {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  /** Runs a shell to its end; stdout. Throws with what it said when it fails. */
  run(program: string, ...args: string[]): Promise<string>;
}

export const trashId = "20260131-101500-ab12";
export const runId = "r-20260131-101500-ab12";

export async function makeShellPlace(repo: TempRepo): Promise<ShellPlace> {
  const bin = path.join(repo.base, "bin");
  await mkdir(bin, { recursive: true });
  const orch = path.join(bin, "orch");
  await writeFile(orch, `#!/bin/sh\nexec '${process.execPath}' --disable-warning=ExperimentalWarning '${main}' "$@"\n`);
  await chmod(orch, 0o755);
  await repo.write(
    ".features.json",
    JSON.stringify({
      features_dir: "features",
      known_features: { Invoice: "Billing", Refund: "Billing", "Evil; touch pwned": "Bad$(touch pwned)" },
      apps: { web: { features_dir: "web/features" } },
    }),
  );
  await repo.write("docs/notes.md", "notes\n");
  await repo.git("branch", "Billing/Invoice");
  await repo.git("update-ref", `refs/orch/trash/${trashId}`, "HEAD");
  await repo.git("pack-refs", "--all");
  await repo.git("branch", "maintenance");
  const asked = { type: "question.asked", id: "q-7", kind: "pick", title: "Which one?", choices: [], timeoutMs: 1 };
  await repo.write(`.orch/runs/${runId}/request.json`, JSON.stringify({ v: 1, command: "do" }));
  await repo.write(
    `.orch/runs/${runId}/events.jsonl`,
    `${JSON.stringify({ v: 1, run: runId, seq: 1, at: 1, ...asked })}\n`,
  );
  await repo.write(`.orch/runs/${runId}/Invoice/attempt-2/diff.patch`, "");
  const env = { ...repo.env, PATH: `${bin}${path.delimiter}${repo.env["PATH"] ?? ""}`, TERM: "xterm-256color" };
  const cwd = repo.root;
  return {
    cwd,
    env,
    run: (program, ...args) =>
      new Promise((resolve, reject) => {
        const child = execFile(program, args, { cwd, env, timeout: 60_000 }, (error, stdout, stderr) => {
          if (error === null) resolve(stdout);
          else reject(new Error(`${program} failed: ${error.message}\n${stdout}${stderr}`));
        });
        child.stdin?.end();
      }),
  };
}

export function hasProgram(name: string, ...args: string[]): boolean {
  return spawnSync(name, args.length > 0 ? args : ["--version"], { stdio: "ignore", timeout: 10_000 }).status === 0;
}

/** A terminal that a person could sit at: keys go in, the screen comes out. */
export class Tmux implements Disposable {
  readonly #socket: string;
  readonly #cwd: string;
  readonly #env: Readonly<Record<string, string>>;

  constructor(place: ShellPlace, argv: readonly string[]) {
    this.#socket = path.join(place.cwd, "..", `tmux-${path.basename(argv[0] ?? "")}.sock`);
    this.#cwd = place.cwd;
    this.#env = place.env;
    this.#tmux("-f", "/dev/null", "new-session", "-d", "-x", "140", "-y", "40", ...argv);
  }

  keys(...keys: readonly string[]): void {
    this.#tmux("send-keys", ...keys);
  }

  screen(): string {
    return this.#tmux("capture-pane", "-p");
  }

  [Symbol.dispose](): void {
    spawnSync("tmux", ["-S", this.#socket, "kill-server"], { env: this.#env, stdio: "ignore" });
  }

  #tmux(...args: readonly string[]): string {
    const done = spawnSync("tmux", ["-S", this.#socket, ...args], { cwd: this.#cwd, env: this.#env, encoding: "utf8" });
    if (done.status !== 0) throw new Error(`tmux ${args.join(" ")}: ${done.stderr}`);
    return done.stdout;
  }
}
