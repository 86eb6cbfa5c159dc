import { extName, repoPath } from "../base/paths.ts";
import type { ChangedFile } from "../model/change.ts";
import type { Finding } from "../model/finding.ts";
import type { Gate, GateInput } from "../ports/gate.ts";
import { finding, ran } from "./gate-finding.ts";

/** What does a reader see? Changes of white space alone, flipped line ends, code under comments. */
export function createAppearanceGate(): Gate {
  return {
    id: "appearance",
    phase: "change",
    async run(input, signal) {
      const found: Finding[] = [];
      for (const file of input.change.files) {
        signal.throwIfAborted();
        if (file.binary || !file.newMode.startsWith("100")) continue;
        found.push(...(await fileFindings(file, input)));
      }
      return ran(found);
    },
  };
}

async function fileFindings(file: ChangedFile, input: GateInput): Promise<Finding[]> {
  if (isWhiteSpaceOnly(file)) return [whiteSpaceOnly(file)];
  const flipped = await flippedEnds(file, input);
  return [...(flipped === undefined ? [] : [flipped]), ...commentedCode(file)];
}

function isWhiteSpaceOnly({ hunks, status }: ChangedFile): boolean {
  const bare = (lines: readonly string[]): string => lines.join("").replace(/[\s\uFEFF]+/g, "");
  return (
    status === "modified" && hunks.length > 0 && hunks.every(({ added, removed }) => bare(added) === bare(removed))
  );
}

function whiteSpaceOnly({ path, hunks }: ChangedFile): Finding {
  return finding("whitespace_only", "WARN", `only white space of ${path} changed`, {
    path,
    ...(hunks[0] === undefined ? {} : { line: hunks[0].newStart }),
    evidence: path,
    remedy: "Do the task, or put the lines back",
  });
}

/** Every line counts as changed when its end is another one: an edit among them is not seen. */
async function flippedEnds(
  { path, oldPath = path, status, hunks }: ChangedFile,
  input: GateInput,
): Promise<Finding | undefined> {
  if (status !== "modified" && status !== "renamed") return undefined;
  // The change itself holds no line ends: a line that changed into itself is the sign.
  if (!hunks.some(({ added, removed }) => added.some((line, at) => line === removed[at]))) return undefined;
  const share = async (side: "read" | "readBase", name: string): Promise<number> => {
    const at = repoPath(name);
    const bytes = at === undefined ? undefined : await input[side](at);
    if (bytes === undefined) return 0;
    const text = new TextDecoder("latin1").decode(bytes);
    const all = text.match(/\n/g)?.length ?? 0;
    return all === 0 ? 0 : (text.match(/\r\n/g)?.length ?? 0) / all;
  };
  const [old, fresh] = [await share("readBase", oldPath), await share("read", path)];
  if (Math.abs(old - fresh) < 0.3) return undefined;
  return finding("eol_change", "WARN", `the line ends of ${path} changed`, {
    path,
    line: hunks[0]?.newStart ?? 1,
    evidence: fresh > old ? "LF -> CRLF" : "CRLF -> LF",
    remedy: "Keep the line ends as they were, so that the edit can be seen",
  });
}

const marks: Readonly<Record<string, RegExp>> = Object.fromEntries([
  ...[".py", ".rb", ".sh", ".toml", ".yml", ".yaml"].map((ext) => [ext, /^\s*#(?!!)\s?(.*)$/] as const),
  ...[
    ".js",
    ".mjs",
    ".cjs",
    ".jsx",
    ".ts",
    ".mts",
    ".cts",
    ".tsx",
    ".go",
    ".rs",
    ".java",
    ".kt",
    ".c",
    ".cc",
    ".cpp",
    ".h",
    ".cs",
    ".php",
    ".swift",
  ].map((ext) => [ext, /^\s*\/\/(?!\/|!|\s*go:|\s*eslint|\s*@ts)\s?(.*)$/] as const),
]);

/** A statement, not a sentence: what ends as code ends, assigns, calls or returns. */
const statement =
  /^\s*(?:(?:return|raise|throw|yield|await|assert|break|continue|pass|del|import|from|use)\b(?!\s+(?:the|a|an|it|to|if|when|this|that|of|in)\b).*[;)\]\w"']$|(?:if|elif|else|for|while|with|try|except|def|class|switch|case|match|fn|func)\b.*[:{]$|(?:const|let|var|mut|int|String|auto|final)\s+\w+.*[=;].*|[\w.[\]"'>-]+\s*(?:[-+*/|&]?=|:=)\s*\S.*|[\w.]+\([^)]*\);?$|[\w.]+\(.*\)\s*[;{]?$|[})\]]+[;,]?$|.*;$)/;
const prose = /^\s*(?:e\.g\.|i\.e\.|note|see|example|usage|https?:)|[a-z]{2,} [a-z]{2,} [a-z]{2,}/i;

function commentedCode({ path, hunks }: ChangedFile): Finding[] {
  const mark = marks[extName(path)];
  if (mark === undefined) return [];
  const removed = new Set(hunks.flatMap((hunk) => hunk.removed.map((line) => line.trim())));
  for (const { added, newStart } of hunks) {
    let run: number[] = [];
    for (let at = 0; at <= added.length; at += 1) {
      const text = mark.exec(added[at] ?? "")?.[1];
      const isCode =
        text !== undefined &&
        text.trim() !== "" &&
        statement.test(text) &&
        !prose.test(text.replace(/["'`].*?["'`]/g, ""));
      if (isCode) {
        run.push(at);
        continue;
      }
      const [first] = run;
      const enough =
        run.length >= 2 ||
        run.some(
          (one) =>
            removed.has((mark.exec(added[one] ?? "")?.[1] ?? "").trim()) &&
            (mark.exec(added[one] ?? "")?.[1] ?? "").trim().length > 5,
        );
      if (first !== undefined && enough) {
        return [
          finding("commented_code", "WARN", "code was left in comments", {
            path,
            line: newStart + first,
            evidence: (added[first] ?? "").trim(),
            remedy: "Delete it; git keeps what was",
          }),
        ];
      }
      run = [];
    }
  }
  return [];
}
