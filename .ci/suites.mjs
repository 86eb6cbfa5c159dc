// Every suite of the product. A test file that no row holds fails the run. `from` entries are folders, or "test/*" for
// the files directly in test/. `onlyByName` suites run only when they are named (npm run bench).
export const SUITES = [
  { name: "e2e", from: ["test/e2e"], timeoutMs: 600_000, limitMinutes: 80, fast: false },
  { name: "faults", from: ["test/faults"], timeoutMs: 600_000, limitMinutes: 80, fast: false },
  { name: "waves", from: ["test/waves"], timeoutMs: 600_000, limitMinutes: 80, fast: false },
  { name: "extension", from: ["test/extension"], timeoutMs: 600_000, limitMinutes: 80, fast: false },
  { name: "nvim", from: ["test/nvim"], timeoutMs: 600_000, limitMinutes: 80, fast: false },
  { name: "contract", from: ["test/contract"], timeoutMs: 300_000, limitMinutes: 80, fast: true },
  { name: "unit", from: ["test/unit", "test/golden", "test/*"], timeoutMs: 60_000, limitMinutes: 10, fast: true },
  { name: "workers", from: ["test/workers"], timeoutMs: 480_000, limitMinutes: 80, fast: false, onlyByName: true },
  { name: "bench", from: ["test/bench"], timeoutMs: 600_000, limitMinutes: 20, fast: false, onlyByName: true },
];

// Two cores: more than two processes only make the timeouts lie.
export const AT_ONCE = 2;

export function suiteOf(file) {
  return SUITES.find((suite) => suite.from.some((from) => holds(from, file)));
}

function holds(from, file) {
  if (from === "test/*") return /^test\/[^/]+$/.test(file);
  return file.startsWith(`${from}/`);
}
