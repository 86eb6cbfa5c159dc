// The picture of the README: a real run of `orch demo`, recorded as it is printed and drawn as a terminal. Anyone can make
// it anew: node .ci/bootstrap.mjs picture. It is no generated file that must not drift: each run has its own times.
import { spawn } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { ROOT } from "./shell.mjs";

const FILE = "docs/media/flow.svg";
const COLUMNS = 112;
const CELL = { width: 8.2, height: 19 };
const PAD = { x: 22, top: 52, bottom: 20 };

/** Resolves with an exit code. Needs dist/ and what the demo needs. */
export async function picture() {
  const { code, text } = await record();
  if (code !== 0) {
    console.error(`${text}\nThe demo ended with ${code}, so there is nothing to draw.`);
    return 1;
  }
  const at = path.join(ROOT, FILE);
  fs.mkdirSync(path.dirname(at), { recursive: true });
  fs.writeFileSync(at, drawn(shown(text)));
  console.log(`Wrote ${FILE}. Look at it in a light and in a dark window before you commit it.`);
  return 0;
}

function record() {
  return new Promise((resolve, reject) => {
    const launcher = path.join(ROOT, "dist/cli/orch.cjs");
    const env = { ...process.env, NO_COLOR: "1" };
    const child = spawn(process.execPath, [launcher, "demo"], { env, stdio: ["ignore", "pipe", "pipe"] });
    let text = "";
    child.stdout.setEncoding("utf8").on("data", (part) => (text += part));
    child.stderr.setEncoding("utf8").on("data", (part) => (text += part));
    child.once("error", reject);
    child.once("close", (code) => resolve({ code, text }));
  });
}

/** What the demo printed, without what only this machine has and without the lines that say twice what another says. */
function shown(text) {
  const twice = [
    /\d s orch \w+ started:/,
    /is asked for/,
    /starts with completion$/,
    /\d s Invoice(?: accepted|: Billing)/,
  ];
  const lines = text
    .split("\n")
    .filter((line) => !twice.some((one) => one.test(line)))
    .map((line) => line.replace(/\S*orch-demo-[^/\s]+\//, "/tmp/orch-demo/"));
  return ["$ orch demo", ...lines].join("\n").trimEnd().split("\n");
}

/** Words of a line and how they are meant; the first rule that fits a place wins. */
const STYLES = [
  [/^\$ .*$/, "command"],
  [/^Next: .*$/, "command"],
  [/^\s+\d+\.\d s(?= )/, "dim"],
  [/\bFAIL\b/, "bad"],
  [/verdict: fail\b/, "bad"],
  [/decision: retry\b/, "warn"],
  [/verdict: pass\b|decision: accepted\b|found valid by spec QA|\b0 failures\b|^the demo went through\b/, "good"],
  [/\bscripted\b/, "warn"],
  [/=+/, "good"],
];

function segments(line) {
  const text = line.length > COLUMNS ? `${line.slice(0, COLUMNS - 3)}...` : line;
  const parts = [];
  for (let rest = text; rest !== "";) {
    const found = STYLES.map(([pattern, style]) => ({
      match: pattern.exec(rest),
      style,
      anchored: pattern.source.startsWith("^"),
    }))
      .filter(({ match, anchored }) => match !== null && (!anchored || rest === text))
      .toSorted((a, b) => a.match.index - b.match.index)[0];
    if (found === undefined) {
      parts.push({ text: rest, style: "text" });
      break;
    }
    const { match, style } = found;
    if (match.index > 0) parts.push({ text: rest.slice(0, match.index), style: "text" });
    parts.push({ text: match[0], style });
    rest = rest.slice(match.index + match[0].length);
  }
  return parts;
}

function drawn(lines) {
  const width = Math.ceil(PAD.x * 2 + COLUMNS * CELL.width);
  const height = PAD.top + lines.length * CELL.height + PAD.bottom;
  const rows = lines.flatMap((line, row) => {
    let column = 0;
    return segments(line).map(({ text, style }) => {
      const x = (PAD.x + column * CELL.width).toFixed(1);
      column += text.length;
      if (text.trim() === "") return "";
      const y = PAD.top + row * CELL.height + 14;
      // Every font puts its letters into our cells, so that bars stand under bars.
      return `<text class="${style}" x="${x}" y="${y}" textLength="${(text.length * CELL.width).toFixed(1)}">${escaped(text)}</text>`;
    });
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img" aria-labelledby="title what">
<title id="title">orch demo in a terminal</title>
<desc id="what">The recorded output of one run: a feature from new over do, whose first attempt fails two gates and whose second passes, to qa and merge, with a timeline. The model's replies were scripted, everything else was real.</desc>
<style>
text { font: 13.5px ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace; white-space: pre; fill: #24292f; }
.window { fill: #ffffff; stroke: #d0d7de; }
.bar { fill: #f6f8fa; }
.dot { fill: #d0d7de; }
.title, .dim { fill: #656d76; }
.command { font-weight: 700; fill: #0550ae; }
.good { fill: #116329; }
.bad { font-weight: 700; fill: #a40e26; }
.warn { fill: #7d4e00; }
@media (prefers-color-scheme: dark) {
  text { fill: #d6dde4; }
  .window { fill: #0d1117; stroke: #30363d; }
  .bar { fill: #161b22; }
  .dot { fill: #484f58; }
  .title, .dim { fill: #8d96a0; }
  .command { fill: #79c0ff; }
  .good { fill: #56d364; }
  .bad { fill: #ff7b72; }
  .warn { fill: #e3b341; }
}
</style>
<rect class="window" x="0.5" y="0.5" width="${width - 1}" height="${height - 1}" rx="10"/>
<path class="bar" d="M1 34V11A10 10 0 0 1 11 1H${width - 11}A10 10 0 0 1 ${width - 1} 11V34Z"/>
<circle class="dot" cx="20" cy="18" r="5.5"/><circle class="dot" cx="38" cy="18" r="5.5"/><circle class="dot" cx="56" cy="18" r="5.5"/>
<text class="title" x="${width / 2}" y="23" text-anchor="middle">orch demo: one recorded run, the model's replies scripted</text>
${rows.filter((row) => row !== "").join("\n")}
</svg>
`;
}

function escaped(text) {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}
