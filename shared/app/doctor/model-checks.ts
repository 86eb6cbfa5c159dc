import { askLocalServers } from "../../adapters/model-auto.ts";
import { knownProviders } from "../../adapters/openai-providers.ts";
import { wantedFlags } from "../../adapters/model-pi.ts";
import { count } from "../../base/lines.ts";
import type { AnywhereContext } from "../anywhere.ts";
import { orderRows, readOrder } from "../handlers/model.ts";
import { type CheckRow, ok, refusedRow } from "./check.ts";

/** pi is one lane of several, so its absence is no fault. */
export async function piRow({ pi }: AnywhereContext, signal: AbortSignal): Promise<readonly CheckRow[]> {
  const found = await pi.find(signal);
  if (found.kind === "missing") return [{ ...ok("pi", `not here, which is no fault: ${found.why}`), next: found.hint }];
  const { argv, flags } = found.pi;
  const lacking = wantedFlags.filter((flag) => flag.startsWith("--") && !flags.includes(flag));
  const { usable, why } = await pi.usable(signal);
  const where = argv.at(-1) ?? "";
  const rows: CheckRow[] = [
    usable
      ? ok("pi", `${why}, at ${where}`)
      : { title: "pi", state: "warn", what: `${why}, at ${where}`, next: "Log in with: pi, then /login" },
  ];
  if (lacking.length > 0) {
    rows.push({
      title: "pi, flags",
      state: "warn",
      what: `this pi has no ${lacking.join(", ")}; calls go without`,
      next: "Update it: npm install -g @earendil-works/pi-coding-agent",
    });
  }
  return rows;
}

/** Names of the variables only: what they hold is nobody's to see. */
export function providerRows({ machine, settings }: AnywhereContext): readonly CheckRow[] {
  const { env } = machine;
  const set = (name: string): boolean => (env[name] ?? "") !== "";
  const known = Object.values(knownProviders).flatMap((row) =>
    "keyEnv" in row && set(row.keyEnv) ? [row.keyEnv] : [],
  );
  const own = Object.entries(settings.config.models.providers);
  const rows: CheckRow[] = [
    ok(
      "providers",
      known.length + own.length === 0
        ? "no key in the environment, no endpoint in models.providers"
        : [
            ...known.map((name) => `${name} is set`),
            ...own.map(([name, { baseUrl }]) => `${name} at ${new URL(baseUrl).host}`),
          ].join(", "),
    ),
  ];
  for (const [name, { keyEnv }] of own) {
    if (keyEnv === undefined || set(keyEnv)) continue;
    rows.push({ title: `provider ${name}`, state: "warn", what: `${keyEnv} is not set`, next: `Set ${keyEnv}` });
  }
  return rows;
}

export async function serverRows(_context: AnywhereContext, signal: AbortSignal): Promise<readonly CheckRow[]> {
  const servers = await askLocalServers({}, signal);
  const here = servers.flatMap(({ server, models }) =>
    models === undefined
      ? []
      : [`${server.title} at ${new URL(server.url).host} with ${count(models.length, "model")}`],
  );
  return [
    ok(
      "local servers",
      here.length === 0 ? `none of ${servers.map(({ server }) => server.title).join(", ")} answers` : here.join(", "),
    ),
  ];
}

export async function orderRow(context: AnywhereContext, signal: AbortSignal): Promise<readonly CheckRow[]> {
  try {
    const order = await readOrder(context, undefined, signal);
    const rows = await orderRows(context, order, signal);
    const list = rows.map(({ id, from, trouble }) => `${id} (${from})${trouble === undefined ? "" : `: ${trouble}`}`);
    const able = rows.filter(({ trouble }) => trouble === undefined).length;
    if (able === rows.length && able > 0) return [ok("models", `${count(able, "model")}: ${order.why}`, list)];
    return [
      {
        title: "models",
        state: able === 0 ? "fail" : "warn",
        what:
          able === 0
            ? "no model of the order can be asked"
            : `${rows.length - able} of ${count(rows.length, "model")} cannot be asked`,
        next: "See the lanes with: orch model",
        list,
      },
    ];
  } catch (error) {
    return [refusedRow("models", "fail", error)];
  }
}
