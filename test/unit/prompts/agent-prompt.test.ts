import assert from "node:assert/strict";
import { Contract } from "../../../shared/model/contract.ts";
import { composeAgent } from "../../../shared/prompts/agent-prompt.ts";
import { readPersona } from "../../../shared/prompts/persona.ts";
import { createRedact } from "../../../shared/prompts/redact.ts";
import { assertGolden } from "../../support/golden.ts";

const slice = "features/Billing/Invoice";
const order: Parameters<typeof composeAgent>[0] = {
  persona: readPersona({
    path: "personas/backend_agent.md",
    text: "---\nname: backend_agent\nrole: implement\ndescription: Writes a slice\nversion: 1\n---\nYou write one feature.\n",
    project: false,
  }),
  contract: Contract.parse({
    id: "Invoice",
    title: "Billing/Invoice",
    goal: `Implement ${slice}/spec.md, tests included.\n\nSums the lines of an invoice.`,
    allowed: [`${slice}/**`, `${slice}/Tests.py`],
    protected: [`${slice}/spec.md`, "pyproject.toml"],
    max_diff_lines: 2000,
    acceptance: [{ id: "example-1", text: "2 -> 4", check: "tests" }],
    checks: [{ name: "tests", argv: ["python3", "-m", "pytest", "--junitxml={report}", `${slice}/Tests.py`] }],
    pattern_refs: ["features/Billing/Refund"],
  }),
  nonce: "7f3a91c2",
  slice: {
    dir: slice,
    roles: [
      { role: "handler", name: "Handler.py" },
      { role: "tests", name: "Tests.py" },
    ],
    lang: "python",
  },
  spec: { path: `${slice}/spec.md`, text: "# Invoice\n\n## Overview\n\nSums the lines of an invoice.\n" },
  request: "Round half up.",
  rules: [{ id: "py.bare-except", message: "A bare except hides every error." }],
  sameSession: false,
  redact: createRedact([]),
};
const textOf = (given: typeof order): string =>
  composeAgent(given)
    .messages.map(({ role, content }) => `--- ${role}\n${content}\n`)
    .join("");

describe("prompt of a feature for an agent", () => {
  it("everything it is told: the spec, where it may write, the checks it may run, how it reports", () =>
    assertGolden("prompts/agent-first-attempt.txt", textOf(order)));

  it("in its own session only the faults and the form of the report", () =>
    assertGolden(
      "prompts/agent-same-session.txt",
      textOf({ ...order, sameSession: true, feedback: "Attempt 1 did not pass: 1 fault to mend.\n" }),
    ));

  it("is never asked to reply with files", () =>
    assert.doesNotMatch(textOf(order), /Reply with one JSON object|"files":/));

  it("secrets are taken out of everything that is sent, and named", () => {
    const secret = "tok_abcdef";
    const composed = composeAgent({
      ...order,
      persona: { ...order.persona, body: secret },
      contract: { ...order.contract, goal: secret, approach: [secret], pseudo: secret, non_goals: [secret] },
      rules: [{ id: "py.bare-except", message: secret }],
      redact: createRedact([{ pattern: "tok_[a-z]{6}", flags: "", name: "token" }]),
      spec: { path: "spec.md", text: secret },
      request: secret,
      feedback: secret,
    });
    assert.deepEqual(composed.redacted, ["token"]);
    assert.ok(!JSON.stringify(composed.messages).includes(secret));
    assert.equal((composed.messages[1]?.content.match(/\[redacted token\]/g) ?? []).length, 8);
  });
});
