import type { ContractKind } from "../model/contract-kinds.ts";
import { criticalArea } from "./critical-work.ts";

/**
 * `route`: what a task looks like from its words, and who might do it. Heuristics over tables, no model and no judge: a
 * suggestion that nothing reads after dispatch.
 */
export interface Signals {
  /** Changed lines, as far as the words tell. */
  readonly lines: number;
  readonly files: number;
  readonly kind: ContractKind;
  readonly risk: "low" | "medium" | "high";
  /** The critical area, where there is one. */
  readonly area?: string;
  /** Share of judgement against typing. */
  readonly judgement: "mostly" | "some" | "little";
  /** Parts that could be done beside each other. */
  readonly subtasks: number;
  /** The person asks for contracts. */
  readonly asked: boolean;
}

export interface Route {
  readonly signals: Signals;
  readonly suggestion: "yourself" | "contracts" | "analysis-first";
  /** Whose ladder it would be; absent when the person does it. */
  readonly kind?: ContractKind;
  readonly workers?: number;
  readonly why: string;
}

/** The numbers of triage. */
const routeLimits = {
  /** About so many lines or fewer, in so many files, are typed faster than described. */
  smallLines: 40,
  smallFiles: 2,
  /** Mostly mechanical work below this is a person's own, above it at most so many workers. */
  mechanicalLines: 1000,
  mechanicalWorkers: 2,
  maxWorkers: 3,
} as const;

const judgementWords = [
  "architecture",
  "architect",
  "design the",
  "decide",
  "choose between",
  "trade-off",
  "tradeoff",
  "security",
  "threat model",
  "heisenbug",
  "flaky",
  "race condition",
  "deadlock",
  "memory leak",
  "root cause",
  "debug",
];
const analysisWords = [
  "why does",
  "why is",
  "investigate",
  "find out",
  "understand",
  "root cause",
  "audit",
  "where is",
];
const mechanicalWords = [
  "rename",
  "replace",
  "reformat",
  "bulk",
  "every file",
  "all files",
  "codemod",
  "boilerplate",
  "move all",
  "update imports",
  "search and replace",
];
const kindWords: readonly (readonly [ContractKind, readonly string[]])[] = [
  ["second_opinion", ["second opinion", "review the", "look over"]],
  ["analysis", analysisWords],
  ["ui", ["button", "css", "layout", "screen", "page looks", "styling", "component looks", "dark mode", "ui "]],
  ["tests", ["add tests", "write tests", "test coverage", "unit tests for", "tests for"]],
  ["refactor", ["refactor", "extract", "split the", "deduplicate", "clean up"]],
  ["mechanical", [...mechanicalWords, "docs", "documentation", "changelog", "typos"]],
];
const askedWords = ["contract", "workers", "in parallel", "delegate", "dispatch"];

export function signalsOf(task: string): Signals {
  const text = ` ${task.toLowerCase()} `;
  const has = (words: readonly string[]): boolean => words.some((word) => text.includes(word));
  const paths = [...new Set(task.match(/[\w./*-]+\.[a-z]{1,4}\b|[\w-]+\/[\w./*-]+/gi) ?? [])];
  const area = criticalArea({ text: task, paths });
  const kind = area === undefined ? (kindWords.find(([, words]) => has(words))?.[0] ?? "feature") : "critical";
  const mechanical = has(mechanicalWords);
  const judging = has(judgementWords);
  const files = numberBefore(text, "files?|modules?|components?") ?? Math.max(1, paths.length);
  const subtasks = subtasksIn(task);
  const lines = numberBefore(text, "lines?") ?? guessLines({ kind, files, subtasks, words: task.split(/\s+/).length });
  return {
    lines,
    files,
    kind,
    risk: area === undefined ? (lines > 300 || files > 5 ? "medium" : "low") : "high",
    ...(area === undefined ? {} : { area }),
    judgement: judging ? "mostly" : mechanical ? "little" : "some",
    subtasks,
    asked: has(askedWords),
  };
}

export function routeOf(signals: Signals): Route {
  const { lines, files, kind, area, judgement, subtasks, asked } = signals;
  const { smallLines, smallFiles, mechanicalLines, mechanicalWorkers, maxWorkers } = routeLimits;
  const to = (workers: number, why: string): Route => ({ signals, suggestion: "contracts", kind, workers, why });
  const yourself = (why: string): Route => ({ signals, suggestion: "yourself", why });
  if (asked) return to(Math.min(maxWorkers, Math.max(1, subtasks)), "contracts were asked for");
  if (kind === "analysis")
    return {
      signals,
      suggestion: "analysis-first",
      kind,
      workers: 1,
      why: "it asks what is so: a task that only reads, first",
    };
  if (judgement === "mostly")
    return yourself(
      "it is mostly judgement (architecture, security, delicate debugging), which a contract cannot hold",
    );
  if (lines <= smallLines && files <= smallFiles)
    return yourself(
      `about ${lines} lines in ${files === 1 ? "one file" : `${files} files`} are typed faster than described`,
    );
  if (area !== undefined)
    return to(1, `it is critical (${area}): opus, or sonnet with every plan field and hidden checks`);
  if (judgement === "little") {
    if (lines < mechanicalLines && subtasks < 2)
      return yourself(`it is mostly mechanical and under about ${mechanicalLines} lines: one search and replace`);
    return to(
      Math.min(subtasks < 2 ? mechanicalWorkers : subtasks, mechanicalWorkers),
      `mechanical work of about ${lines} lines: at most ${mechanicalWorkers} workers`,
    );
  }
  if (subtasks > 1) return to(Math.min(maxWorkers, subtasks), `${subtasks} parts that do not wait for each other`);
  return to(1, "one bounded piece of work");
}

function numberBefore(text: string, noun: string): number | undefined {
  const found = new RegExp(`(\\d[\\d,. ]*)\\s*(?:${noun})\\b`).exec(text);
  return found === null ? undefined : Number((found[1] ?? "").replaceAll(/[,. ]/g, ""));
}

/** Items of a list, or clauses that a person put side by side. */
function subtasksIn(task: string): number {
  const items = task.split(/\r?\n/).filter((line) => /^\s*(?:[-*]|\d+[.)])\s+\S/.test(line)).length;
  if (items > 1) return items;
  return (
    task.split(/;|\band also\b|,\s+and\s+(?=\w+\s)/i).filter((part) => part.trim().split(/\s+/).length > 2).length || 1
  );
}

function guessLines(facts: {
  readonly kind: ContractKind;
  readonly files: number;
  readonly subtasks: number;
  readonly words: number;
}): number {
  const each = {
    mechanical: 25,
    tests: 80,
    ui: 60,
    refactor: 60,
    feature: 90,
    critical: 80,
    analysis: 0,
    second_opinion: 0,
  };
  const size = facts.words < 8 ? 0.4 : 1;
  return Math.round(each[facts.kind] * Math.max(facts.files, facts.subtasks) * size);
}
