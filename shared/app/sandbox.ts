import { OrchError } from "../model/error.ts";
import type { ProcessSpec } from "../ports/process.ts";
import type { ConfineCheck, Confine, Sandbox, SandboxState } from "../ports/sandbox.ts";
import type { TestRunner } from "../ports/test-runner.ts";
import { checkConfinement } from "./check-places.ts";
import type { RepoContext } from "./context.ts";

type Demanding = Pick<RepoContext, "config" | "sandbox">;

/** @throws OrchError `env.no-sandbox` where the settings let no code run without a sandbox and there is none */
export async function requireSandbox(context: Demanding, signal: AbortSignal): Promise<void> {
  const state = await demanded(context, signal);
  if (state?.kind === "off") throw missing(state);
}

/** The same for callers that go on without tests: no test program is chosen, so none is started. */
export function sandboxed(runner: TestRunner, context: Demanding): TestRunner {
  return {
    ...runner,
    async choose(...asked) {
      const state = await demanded(context, asked[2]);
      return state?.kind === "off"
        ? { kind: "missing-tool", message: missing(state).message }
        : await runner.choose(...asked);
    },
  };
}

async function demanded({ config, sandbox }: Demanding, signal: AbortSignal): Promise<SandboxState | undefined> {
  return config.sandbox === "required" ? await sandbox.state(signal) : undefined;
}

const missing = ({ why, hint }: Extract<SandboxState, { readonly kind: "off" }>): OrchError =>
  new OrchError("env.no-sandbox", `the settings say that sandbox is "required", and there is none: ${why}`, {
    data: { hint },
  });

/**
 * What would fetch or write where nothing can be fetched or written must not try: the choice of the test program, outside
 * and before any generated code, has brought the environment up to date.
 */
function offline(env: ProcessSpec["env"]): ProcessSpec["env"] {
  const { UV_CACHE_DIR: _closed, ...rest } = env;
  return { ...rest, UV_OFFLINE: "1", UV_NO_SYNC: "1", PIP_NO_INDEX: "1", npm_config_offline: "true" };
}

export interface Confinements {
  /** For a worker: what it may reach is the caller's to say. */
  readonly worker: Confine;
  readonly check: ConfineCheck;
}

/** A sandbox is made once a run: that its programs go without is said once, and never left unsaid. */
const told = new WeakSet<Sandbox>();

export function createConfinements(
  context: Pick<RepoContext, "config" | "sandbox" | "editor" | "machine" | "files" | "root">,
): Confinements {
  const worker: Confine = async (spec, within, signal) => {
    if (context.config.sandbox === "off") return spec;
    const state = await context.sandbox.state(signal);
    if (state.kind === "on") return await context.sandbox.wrap(spec, within, signal);
    if (context.config.sandbox === "required") throw missing(state);
    if (!told.has(context.sandbox)) {
      told.add(context.sandbox);
      context.editor.notify({
        severity: "warning",
        text: `No sandbox here, so workers and checks run as you: ${state.why}`,
        hint: state.hint,
      });
    }
    return spec;
  };
  return {
    worker,
    check: async (spec, places, signal) => {
      if (context.config.sandbox === "off") return spec;
      const inside = await worker(spec, await checkConfinement(context, spec, places), signal);
      return inside === spec ? spec : { ...inside, env: offline(inside.env) };
    },
  };
}
