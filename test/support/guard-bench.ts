import type { TempRepo } from "./temp-repo.ts";

/**
 * A project of many small files and an honest change of about `lines` lines over them: a quarter is new tests, the rest
 * edits of the source, as workers make them. The base is a commit, the change lies in the working tree and in `tree`.
 */
export async function changedProject(
  repo: TempRepo,
  lines: number,
): Promise<{ readonly base: string; readonly tree: string }> {
  const files = Math.max(2, Math.round(lines / 65));
  for (let at = 0; at < files; at += 1) {
    await repo.write(`src/part${at % 20}/module${at}.py`, source(at, false));
    if (at % 4 === 0) await repo.write(`tests/test_module${at}.py`, tests(at, 4));
  }
  const base = await repo.commit("base");
  let left = lines;
  for (let at = 0; at < files && left > 0; at += 1) {
    await repo.write(`src/part${at % 20}/module${at}.py`, source(at, true));
    left -= 48;
    if (at % 4 !== 0 || left <= 0) continue;
    await repo.write(`tests/test_more${at}.py`, tests(at, 14));
    left -= 14 * 5;
  }
  await repo.git("add", "-A");
  return { base, tree: await repo.git("write-tree") };
}

function source(seed: number, changed: boolean): string {
  const parts = Array.from({ length: 12 }, (_, at) => {
    const factor = changed ? `(${seed + at} + offset)` : String(seed + at);
    const more = changed ? `    if value < 0:\n        raise ValueError("value of step ${at} is negative")\n` : "";
    return `def step_${at}(value: int, offset: int = 0) -> int:\n    """Step ${at} of part ${seed}."""\n${more}    return value * ${factor}\n`;
  });
  return `"""Part ${seed}."""\n\n\n${parts.join("\n\n")}`;
}

function tests(seed: number, count: number): string {
  const parts = Array.from(
    { length: count },
    (_, at) =>
      `def test_step_${seed}_${at}():\n    value = step_${at % 12}(${seed + at})\n    assert value == ${(seed + at) * (seed + (at % 12))}\n`,
  );
  return `from src.part${seed % 20}.module${seed} import *\n\n\n${parts.join("\n\n")}`;
}
