import { agentsStanding, linkAgents } from "../agents-link.ts";
import type { AnywhereContext } from "../anywhere.ts";
import { type CheckRow, ok } from "./check.ts";

/** `.agents`: any command makes missing links again, so what is still missing could not be made. */
export async function agentsRow(context: AnywhereContext): Promise<readonly CheckRow[]> {
  const { repository } = context;
  if (repository.kind === "none") return [];
  const parts = { ...context, ...repository };
  const links = await agentsStanding(parts);
  if (links.length === 0) return [];
  const rows: CheckRow[] = links
    .filter(({ state }) => state === "foreign")
    .map(({ name }) => ({
      title: "agents links",
      state: "warn",
      what: `${name} is not Orch's and stays: ./.agents/orch may lead elsewhere`,
      next: `Move it away, then run any command: mv ${name} ${name}.mine`,
    }));
  const missing = links.filter(({ state }) => state === "missing");
  if (missing.length > 0) {
    rows.push({
      title: "agents links",
      state: "warn",
      what: `missing: ${missing.map(({ name }) => name).join(", ")}`,
      next: "orch doctor --fix",
      mend: {
        how: "safe",
        what: "Make the missing links",
        async apply() {
          const made: string[] = [];
          for (const folder of new Set(missing.map((link) => link.folder)))
            made.push(...(await linkAgents(parts, folder)).made);
          return made.length === 0 ? "nothing was missing any more" : `linked ${made.join(", ")}`;
        },
      },
    });
  }
  return rows.length > 0 ? rows : [ok("agents links", links.map(({ name }) => name).join(", "))];
}
