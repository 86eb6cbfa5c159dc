// npm run bench [parts of file names] [-- --compare FILE]: runs test/bench, keeps every result of the run in one file, and
// sets it beside an earlier one. Only ratios to a reference of the same run are compared: seconds belong to the machine.
import fs from "node:fs";
import path from "node:path";
import { ROOT } from "./shell.mjs";

const FOLDER = path.join(ROOT, "artifacts/bench");
const ALL = "all.json";

/** `run` resolves with the exit code of the suite. A ratio that got worse fails nothing; it is printed. */
export async function bench(args, run) {
  const { compare, rest } = split(args);
  const before = compare === undefined ? undefined : readRatios(compare);
  const began = Date.now();
  const code = await run(rest);
  const now = collect(began);
  if (Object.keys(now).length > 0)
    fs.writeFileSync(
      path.join(FOLDER, ALL),
      `${JSON.stringify({ at: new Date(began).toISOString(), benches: now }, null, 2)}\n`,
    );
  if (before !== undefined) console.log(`\n${compared(before, ratiosOf({ benches: now })).join("\n")}`);
  return code;
}

function split(args) {
  const at = args.findIndex((word) => word === "--compare" || word.startsWith("--compare="));
  if (at === -1) return { rest: args };
  const inline = args[at].startsWith("--compare=");
  const compare = inline ? args[at].slice("--compare=".length) : args[at + 1];
  if (!compare) throw new Error("--compare takes the file of an earlier run, for example artifacts/bench/all.json.");
  return { compare, rest: args.toSpliced(at, inline ? 1 : 2) };
}

function readRatios(file) {
  return ratiosOf(JSON.parse(fs.readFileSync(path.resolve(file), "utf8")));
}

/** What this run wrote, by name. */
function collect(since) {
  if (!fs.existsSync(FOLDER)) return {};
  const files = fs
    .readdirSync(FOLDER)
    .filter((name) => name.endsWith(".json") && name !== ALL && fs.statSync(path.join(FOLDER, name)).mtimeMs >= since);
  return Object.fromEntries(
    files.map((name) => [path.basename(name, ".json"), JSON.parse(fs.readFileSync(path.join(FOLDER, name), "utf8"))]),
  );
}

/** Ratios by what they measure: of the file of one bench, or of a whole run. */
export function ratiosOf(document) {
  const benches = document.benches ?? { [document.name ?? "qa"]: document };
  return new Map(
    Object.entries(benches).flatMap(([bench, one]) => [
      ...(one.ratios ?? []).map(({ what, reference, ratio }) => [`${bench}: ${what} / ${reference}`, ratio]),
      ...(one.ratios === undefined ? (one.goals ?? []) : [])
        .filter(({ unit }) => unit === "x")
        .map(({ what, measured }) => [`${bench}: ${what}`, measured]),
    ]),
  );
}

/** Lines for a person; a tenth more or less is what a busy machine does by itself. */
export function compared(before, now) {
  const names = [...new Set([...before.keys(), ...now.keys()])];
  const width = Math.max(10, ...names.map((name) => name.length));
  return [
    `${"Ratio".padEnd(width)}  before     now  change`,
    ...names.map((name) => {
      const [old, fresh] = [before.get(name), now.get(name)];
      const change = old === undefined || fresh === undefined ? undefined : fresh / old - 1;
      const word = change === undefined ? "" : change > 0.1 ? "  slower" : change < -0.1 ? "  faster" : "";
      const percent =
        change === undefined ? "      -" : `${change >= 0 ? "+" : ""}${(change * 100).toFixed(0)} %`.padStart(7);
      return `${name.padEnd(width)}  ${shown(old)}  ${shown(fresh)} ${percent}${word}`;
    }),
  ];
}

function shown(ratio) {
  return (ratio === undefined ? "-" : ratio.toFixed(2)).padStart(6);
}
