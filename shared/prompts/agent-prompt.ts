import { clip } from "../base/lines.ts";
import type { Contract } from "../model/contract.ts";
import { type ComposedPrompt, dataNote, type PromptOrder } from "./compose.ts";
import { agentChecks, agentReply, scopeSection } from "./contract-prompt.ts";
import { chatSafe } from "./fence.ts";
import { redacting } from "./redact.ts";
import {
  feedbackSection,
  goalSection,
  planSection,
  type PromptFile,
  requestSection,
  rulesSection,
  sectionBudget,
  type SliceFacts,
  specSection,
} from "./sections.ts";

export interface AgentPromptOrder extends Omit<PromptOrder, "files" | "fewShot"> {
  readonly slice: SliceFacts;
  readonly spec: PromptFile;
}

/**
 * A feature for an agent: what a completion is told, without the files, for it reads and writes them itself in its
 * worktree. Neighbours are named by their folders.
 */
export function composeAgent(order: AgentPromptOrder): ComposedPrompt {
  const { clean, cleanAll, taken } = redacting(order.redact);
  const { nonce, feedback, slice, spec } = order;
  const contract = cleanAll({ ...order.contract, checks: order.contract.checks.map(withoutReport) });
  const news = feedback === undefined ? "" : feedbackSection(clean(feedback), nonce);
  const sections = order.sameSession
    ? [news, agentReply(contract)]
    : [
        goalSection(contract, true),
        requestSection(clean(order.request), nonce),
        specSection({ path: spec.path, text: clean(spec.text) }, nonce),
        planSection(contract, nonce, true),
        neighboursSection(contract.pattern_refs),
        folderSection(slice),
        scopeSection(contract, testsIn(slice)),
        rulesSection(cleanAll(order.rules)),
        agentChecks(contract),
        news,
        agentReply(contract),
      ];
  return {
    messages: [
      { role: "system", content: `${chatSafe(clean(order.persona.body))}\n\n${dataNote(nonce)}` },
      { role: "user", content: sections.filter((section) => section !== "").join("\n\n") },
    ],
    redacted: [...taken],
  };
}

/** Where the results are written is the gate's own matter. */
function withoutReport(check: Contract["checks"][number]): Contract["checks"][number] {
  return { ...check, argv: check.argv.filter((part) => !part.includes("{report}")) };
}

function neighboursSection(folders: readonly string[]): string {
  if (folders.length === 0) return "";
  const list = folders.map((folder) => `- ${folder}`).join("\n");
  return chatSafe(
    `# How this project does it\n\nRead these working features. Copy the shape, not the content.\n\n${list}`,
  );
}

/** A slice has one file of tests: another one beside it would be a file too many. */
function testsIn({ dir, roles }: SliceFacts): string {
  const file = roles.find(({ role }) => role === "tests")?.name;
  return file === undefined ? `All tests stay in ${dir}.` : `All tests of the feature go into ${dir}/${file}.`;
}

function folderSection({ dir, roles }: SliceFacts): string {
  const lines = roles.map(({ name, role }) => `- ${dir}/${name} (${role})`).join("\n");
  const text = `# The feature's folder\n\nYou work in a copy of the repository. Write whole, working files; in the end these must be there:\n\n${lines}`;
  return chatSafe(clip(text, sectionBudget.plan));
}
