import { baseName, extName, globMatcher, hasWildcard, repoPath } from "../base/paths.ts";
import type { ChangedFile } from "../model/change.ts";
import type { Finding } from "../model/finding.ts";
import { isTestPath } from "../model/test-path.ts";
import type { Gate, GateInput } from "../ports/gate.ts";
import { finding, ran } from "./gate-finding.ts";

/**
 * What agents' programs write beside their work: histories, sessions, caches. They are taken out of the change and only
 * told. Their configuration is not among them: that is planted, not left.
 */
const strays = globMatcher([
  "**/.aider.chat.history.md",
  "**/.aider.input.history",
  "**/.aider.llm.history",
  "**/.aider.tags.cache*/**",
  "**/.claude/{todos,logs,projects,shell-snapshots,statsig,sessions,debug}/**",
  "**/.claude/history.jsonl",
  "**/.codex/{sessions,log,logs,tmp}/**",
  "**/.codex/history.jsonl",
  "**/.gemini/{tmp,history,logs,checkpoints}/**",
  "**/.opencode/{log,logs,session,sessions,storage,cache}/**",
  "**/.pi/{sessions,logs}/**",
  "**/.cline/{tasks,history,cache,logs}/**",
  "**/.roo/{tasks,history,cache}/**",
  "**/.cursor/{chats,logs,cache}/**",
  "**/.copilot/{logs,sessions,history}/**",
  "**/.{crush,goose,specstory,serena,qwen,reasonix,amp,continue}/**",
  "**/.{cline,codex,gemini,opencode,claude}_history",
  "**/.*.chat.history.md",
  "**/{claude,codex,gemini,agent}-{session,transcript,log}-*.{md,json,jsonl,txt,log}",
]);

export const isStray = (path: string): boolean => strays(path);

const names: readonly RegExp[] = [
  /\.(?:bak|tmp|temp|log|dump|prof|pid|seed|cache|patch\.rej|stackdump|core)$/i,
  /(?:^|[-_. ])(?:copy|kopie)(?: ?\(\d+\))?\.\w+$|^copy of /i,
  /~$|^#.*#$|^\.#/,
  /^(?:core|vgcore)\.\d+$|^hs_err_pid\d+|^npm-debug\.log|^yarn-error\.log|^nohup\.out$|^\.?coverage$|^junit.*\.xml$/,
];
const folders =
  /(?:^|\/)(?:htmlcov|\.nyc_output|\.hypothesis|\.tox|\.nox|\.gradle|\.cargo-ok|target\/debug|target\/release|\.turbo|\.parcel-cache|__MACOSX|\.ipynb_checkpoints|\.eggs)\//;

/** A program of one evening: named so, and nothing in it can be used from elsewhere. */
const scratch =
  /^(?:debug|scratch|tmp|temp|repro|reproduce|fix|try|trial|check|verify|run|quick|adhoc|demo|play|playground|sandbox|experiment|poc|foo|bar|baz|untitled|hello|a|x)(?:[-_.\d][\w. -]*)?\.(?:py|[cm]?[jt]s|sh|rb|go|rs|java|php|pl|lua)$|[-_](?:temp|tmp|scratch|debug|backup|old|orig|copy|wip|draft)\d*\.(?:py|[cm]?[jt]sx?|sh|rb|go|rs|java)$/i;
const usable =
  /^\s*(?:export\b|module\.exports|exports\.|def \w|async def \w|class \w|pub (?:fn|struct|enum|mod|trait)|package (?!main\b)|public (?:final )?(?:class|interface|record|enum)|func [A-Z]|function \w+|[A-Z][A-Z0-9_]+\s*=)/m;
const kept = /(?:^|\/)(?:bin|scripts?|tools?|examples?|docs?|benchmarks?|cmd|hack|ci|\.github)\//;

/** Junk: leftovers by name, and scratch programs. A name that the contract gives exactly is no junk. */
export function createLeftoversGate(): Gate {
  return {
    id: "leftovers",
    phase: "change",
    async run(input, signal) {
      const exact = new Set(input.contract.allowed.filter((glob) => !hasWildcard(glob)));
      const found: Finding[] = [];
      for (const file of input.change.files) {
        signal.throwIfAborted();
        if (file.newMode === "000000" || exact.has(file.path)) continue;
        if (isStray(file.path)) found.push(stray(file));
        else if ((file.status === "added" || file.status === "renamed") && (await isJunk(file, input)))
          found.push(junk(file));
      }
      return ran(found);
    },
  };
}

async function isJunk({ path, binary }: ChangedFile, input: GateInput): Promise<boolean> {
  const name = baseName(path);
  if (folders.test(path)) return true;
  if (names.some((pattern) => pattern.test(name)) && !isTestPath(path)) return true;
  if (binary || !scratch.test(name) || isTestPath(path) || kept.test(path) || extName(path) === "") return false;
  const at = repoPath(path);
  const bytes = at === undefined ? undefined : await input.read(at);
  return bytes !== undefined && !usable.test(new TextDecoder("utf-8").decode(bytes));
}

function stray({ path }: ChangedFile): Finding {
  return finding("stray_cli_file", "WARN", `${path} was left by an agent's program`, {
    path,
    evidence: path,
    remedy: "Nothing: it is taken out of the change",
  });
}

function junk({ path }: ChangedFile): Finding {
  return finding("junk_file", "FAIL", `${path} is a leftover`, { path, evidence: path, remedy: "Remove it" });
}
