import path from "node:path";
import { mkdir, writeFile } from "node:fs/promises";
import type { ContractInput } from "../../shared/model/contract.ts";
import { type FeatureRepo, makeFeatureRepo } from "./feature-repo.ts";
import type { Step } from "./scripted-model-server/script.ts";

/** A small project with three modules and their tests, and contracts over it. Workers are completions of a scripted server. */
export const sources: Readonly<Record<string, string>> = {
  "README.md": "# tools\n",
  ".gitignore": "__pycache__/\n",
  "src/__init__.py": "",
  "src/slug.py": 'def slugify(text: str) -> str:\n    return text.lower().replace(" ", "-")\n',
  "src/price.py": "def net(gross: int) -> int:\n    return gross\n",
  "src/table.py": "def rows(text: str) -> list[str]:\n    return text.split()\n",
  "tests/__init__.py": "",
  "tests/test_table.py":
    'import unittest\n\nfrom src.table import rows\n\n\nclass Rows(unittest.TestCase):\n    def test_words(self) -> None:\n        self.assertEqual(rows("a b"), ["a", "b"])\n',
};

const python = (code: string): string[] => ["python3", "-B", "-c", code];

export const contracts = {
  T1: {
    id: "T1",
    title: "Trim slugs",
    goal: "slugify drops white space around the text.",
    kind: "mechanical",
    worker: "direct/cheap",
    allowed: ["src/slug.py"],
    estimate_lines: 2,
    max_diff_lines: 6,
    acceptance: [{ id: "trim", text: "no dash at the ends", check: "trim" }],
    checks: [{ name: "trim", argv: python('from src.slug import slugify; assert slugify(" A b ") == "a-b"') }],
    final_checks: [{ name: "all tests", argv: ["python3", "-B", "-m", "unittest", "-q"] }],
  },
  T2: {
    id: "T2",
    title: "Net prices",
    goal: "net takes 20 percent off, rounded down.",
    worker: "direct/cheap",
    allowed: ["src/price.py"],
    acceptance: [{ id: "net", text: "net(120) is 100", check: "net" }],
    checks: [{ name: "net", argv: python("from src.price import net; assert net(120) == 100") }],
    final_checks: [{ name: "all tests", argv: ["python3", "-B", "-m", "unittest", "-q"] }],
  },
  T3: {
    id: "T3",
    title: "Rows by line",
    goal: "rows splits lines first, then words; what a single line gives stays as it is.",
    worker: "direct/cheap",
    ladder: ["direct/strong"],
    max_attempts: 1,
    allowed: ["src/table.py", "tests/**"],
    acceptance: [{ id: "lines", text: "lines are split", check: "unit" }],
    checks: [{ name: "unit", argv: ["python3", "-B", "-m", "unittest", "-q", "tests.test_table"] }],
  },
  T4: {
    id: "T4",
    title: "Unmapped",
    goal: "Something whose criterion names a check that is not there.",
    worker: "direct/cheap",
    allowed: ["src/other.py"],
    acceptance: [{ id: "x", text: "x", check: "gone" }],
    checks: [{ name: "there", argv: ["true"] }],
  },
  T5: {
    id: "T5",
    title: "Slugs without dots",
    goal: "slugify drops dots, on top of what was done before.",
    worker: "direct/cheap",
    allowed: ["src/slug.py"],
    acceptance: [{ id: "dots", text: "dots go", check: "dots" }],
    checks: [{ name: "dots", argv: python('from src.slug import slugify; assert slugify(" A.b ") == "ab"') }],
    build_on: "T1",
    inputs: [{ from: "T1", what: "diff" }],
  },
  T6: {
    id: "T6",
    title: "After the blocked one",
    goal: "Never begun.",
    worker: "direct/cheap",
    allowed: ["src/last.py"],
    checks: [{ name: "there", argv: ["true"] }],
    after: ["T4"],
  },
} satisfies Readonly<Record<string, ContractInput>>;

const files = (given: Readonly<Record<string, string>>): string => JSON.stringify({ files: given });

export const trimmed = 'def slugify(text: str) -> str:\n    return text.strip().lower().replace(" ", "-")\n';
/** What a client that wrote it says at its end. */
export const trimmedEnd = JSON.stringify({
  status: "done",
  summary: "trimmed",
  files_changed: ["src/slug.py"],
  acceptance: {},
  concerns: [],
});
const dotless = 'def slugify(text: str) -> str:\n    return text.strip().lower().replace(" ", "-").replace(".", "")\n';
export const net = "def net(gross: int) -> int:\n    return gross * 100 // 120\n";
export const byLine =
  "def rows(text: str) -> list[str]:\n    return [word for line in text.splitlines() for word in line.split()]\n";
const tampered = sources["tests/test_table.py"]?.replace('["a", "b"]', 'rows("a b")') ?? "";

/** The second rung: does the work and puts the test back. */
export const strongSteps: readonly Step[] = [
  {
    match: { user: "Task: Rows by line", model: "strong" },
    reply: { text: files({ "src/table.py": byLine, "tests/test_table.py": sources["tests/test_table.py"] ?? "" }) },
  },
];

/** What the workers say, by the title of the task and whether they were sent back. */
export const steps: readonly Step[] = [
  ...strongSteps,
  { match: { user: "Task: Trim slugs" }, reply: { text: files({ "src/slug.py": trimmed }) } },
  {
    match: { user: "Task: Net prices.*last attempt" },
    reply: { text: files({ "src/price.py": net }) },
  },
  {
    match: { user: "Task: Net prices" },
    reply: { text: files({ "src/price.py": net, "src/tax.py": "RATE = 20\n" }) },
  },
  {
    match: { user: "Task: Rows by line" },
    reply: { text: files({ "src/table.py": byLine, "tests/test_table.py": tampered }) },
  },
  { match: { user: "Task: Slugs without dots" }, reply: { text: files({ "src/slug.py": dotless }) } },
];

export interface ContractRepo extends FeatureRepo {
  readonly paths: (...ids: readonly (keyof typeof contracts)[]) => readonly string[];
  /** Writes a contract, with changes, and names its path. */
  put(id: keyof typeof contracts, more?: Partial<ContractInput>): Promise<string>;
}

/** `workers` of the person's settings: agents that ask the same server. */
export async function makeContractRepo(
  baseUrl: string,
  workers: Readonly<Record<string, unknown>> = {},
): Promise<ContractRepo> {
  const made = await makeFeatureRepo(baseUrl, { files: sources, remote: false });
  const settings = path.join(made.repo.env["XDG_CONFIG_HOME"] ?? "", "orch", "config.json");
  // USD per million tokens: 20 tokens cost 0.40.
  const prices = { cheap: { input: 20_000, output: 20_000 } };
  await writeFile(settings, JSON.stringify({ models: { providers: { direct: { baseUrl, prices } } }, workers }));
  const folder = path.join(made.repo.root, ".orch", "contracts");
  await mkdir(folder, { recursive: true });
  const pathOf = (id: string): string => `.orch/contracts/${id}.json`;
  const put = async (id: keyof typeof contracts, more: Partial<ContractInput> = {}): Promise<string> => {
    const text = `// ${contracts[id].title}\n${JSON.stringify({ ...contracts[id], ...more }, null, 2)}\n`;
    await writeFile(path.join(folder, `${id}.json`), text);
    return pathOf(id);
  };
  for (const id of Object.keys(contracts) as (keyof typeof contracts)[]) await put(id);
  return { ...made, put, paths: (...ids) => ids.map(pathOf), [Symbol.asyncDispose]: () => made[Symbol.asyncDispose]() };
}
