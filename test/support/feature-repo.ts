import path from "node:path";
import { mkdir, writeFile } from "node:fs/promises";
import type { CliPlace } from "./orch-cli.ts";
import { orchJson } from "./orch-cli.ts";
import { sourceRoot } from "./source-root.ts";
import { makeTempRepo, type TempRepo, type TempRepoOptions } from "./temp-repo.ts";

/** A Python project with a remote, a person's pi that knows the provider `lab` at `baseUrl`, and a place to start orch in. */
export interface FeatureRepo extends AsyncDisposable {
  readonly repo: TempRepo;
  readonly place: CliPlace;
  /** What a person does once after looking: `orch trust --hash <what it says>`. */
  trust(): Promise<void>;
}

export const projectFiles: Readonly<Record<string, string>> = {
  "README.md": "# shop\n",
  ".python-version": "3.11\n",
  "pyproject.toml": '[project]\nname = "shop"\nversion = "0.1.0"\nrequires-python = ">=3.11"\n',
  ".gitignore": "__pycache__/\n.venv/\n",
};

export async function makeFeatureRepo(baseUrl: string, options: TempRepoOptions = {}): Promise<FeatureRepo> {
  const repo = await makeTempRepo({ remote: true, files: projectFiles, ...options });
  const agent = path.join(repo.home, ".pi", "agent");
  await mkdir(agent, { recursive: true });
  const models = [{ id: "scripted", contextWindow: 128_000, maxTokens: 8000 }];
  const lab = { baseUrl, api: "openai-completions", apiKey: "dummy-key-of-the-lab", models };
  await writeFile(path.join(agent, "models.json"), JSON.stringify({ providers: { lab } }));
  // The same server under a second name, asked directly over HTTP: quicker than a pi process for tests of other things.
  const config = path.join(repo.env["XDG_CONFIG_HOME"] ?? "", "orch");
  await mkdir(config, { recursive: true });
  await writeFile(path.join(config, "config.json"), JSON.stringify({ models: { providers: { direct: { baseUrl } } } }));
  await writeFile(path.join(config, "model_chain.json"), JSON.stringify(["direct/scripted"]));
  const bin = path.join(sourceRoot, "node_modules", ".bin");
  const node = path.dirname(process.execPath);
  const place = {
    cwd: repo.root,
    env: { ...repo.env, PATH: [node, bin, repo.env["PATH"] ?? ""].join(path.delimiter) },
  };
  return {
    repo,
    place,
    async trust() {
      const { error } = await orchJson(place, "trust");
      const hash = /[0-9a-f]{64}/.exec(error?.message ?? "")?.[0];
      if (hash === undefined) throw new Error(`orch trust named no hash: ${error?.message ?? "trusted already"}`);
      const granted = await orchJson(place, "trust", "--hash", hash);
      if (!granted.ok) throw new Error(granted.summary);
    },
    [Symbol.asyncDispose]: () => repo.cleanup(),
  };
}
