import assert from "node:assert/strict";
import { refused } from "../support/bench.ts";
import { make, type NewData, room, spec } from "../support/new-room.ts";
import type { ScriptedSaid } from "../support/scripted-model.ts";

const dir = "features/Billing/Invoice";

describe("new: the spec @slow", function () {
  this.timeout(600_000);

  it("writes the template when no model answers, with the person's words or its default overview", async () => {
    for (const [said, words, overview, note] of [
      [[], ["Totals with tax"], "Totals with tax", /no model can be asked: pi is not installed/],
      [
        [{ kind: "failed", why: "timeout", detail: "no reply within 300 s" } as ScriptedSaid],
        ["Totals"],
        "Totals",
        /\(test\/one: no reply within 300 s\)/,
      ],
      [["I would rather not."], ["Totals"], "Totals", /gave no spec/],
      [[spec], [], "Invoice is a feature of the domain Billing.", /no model was asked/],
    ] as const) {
      await using at = await room(said);
      const result = await make(at.context, "Billing/Invoice", ...words);
      const text = (await at.bench.repo.read(`${dir}/spec.md`)) ?? "";
      assert.ok(result.ok && text.includes(`## Overview\n\n${overview}`), text);
      assert.equal((result.data as NewData).spec.by, "template");
      assert.match(result.summary, note);
      assert.deepEqual(result.next, [`edit ${dir}/spec.md`, "orch do"], "a do that cannot pass is not what comes next");
    }
  });

  it("asks once more when the reply is not well-formed, and fills in what then still lacks", async () => {
    const torn = spec.replace(/## Errors[\s\S]*?(?=## Examples)/, "");
    await using mended = await room([torn, spec, "VALID"]);
    await make(mended.context, "Billing/Invoice", "Totals");
    assert.equal(await mended.bench.repo.read(`${dir}/spec.md`), spec);
    assert.deepEqual(
      mended.model.asked.map(({ role, step }) => `${role} ${step}`),
      ["spec 1", "spec 2", "spec-qa 1"],
    );
    assert.match(mended.model.asked[1]?.messages.at(-1)?.content ?? "", /the section Errors is missing/);
    assert.deepEqual(
      [...mended.bench.sink.sidecars.keys()],
      [
        "spec/prompt-1.md",
        "spec/reply-1.md",
        "spec/prompt-2.md",
        "spec/reply-2.md",
        "spec/qa-prompt-1.md",
        "spec/qa-reply-1.md",
      ],
    );

    await using stubborn = await room([torn]);
    const result = await make(stubborn.context, "Billing/Invoice", "Totals");
    const data = result.data as NewData;
    assert.match(data.spec.note ?? "", /left out Errors/);
    assert.ok((await stubborn.bench.repo.read(`${dir}/spec.md`))?.includes("## Errors\n"));

    await using tired = await room([torn, { kind: "failed", why: "error", detail: "gone" }]);
    assert.equal(((await make(tired.context, "Billing/Invoice", "Totals")).data as NewData).spec.by, "test/one");
  });

  it("writes what spec QA corrected; without an answer of it the well-formed spec stands, and that is said", async () => {
    const corrected = spec.replace("list of numbers | any", "list of numbers | each from 0 to 100");
    await using mended = await room([spec, `ISSUES\n- no bounds\n\`\`\`spec.md\n${corrected}\`\`\``, "VALID"]);
    const result = await make(mended.context, "Billing/Invoice", "Totals");
    assert.equal(await mended.bench.repo.read(`${dir}/spec.md`), corrected);
    assert.match(result.summary, /found valid by spec QA after 1 correction$/);

    await using silent = await room([spec, "I think it is VALID."]);
    const unchecked = await make(silent.context, "Billing/Invoice", "Totals");
    assert.equal(await silent.bench.repo.read(`${dir}/spec.md`), spec);
    assert.match(unchecked.summary, /not checked by spec QA \(test\/one gave no verdict: no line of it/);
    assert.deepEqual((unchecked.data as NewData).spec.review, {
      kind: "unchecked",
      rounds: 2,
      corrections: 0,
      issues: [],
      why: "test/one gave no verdict: no line of it is the word VALID or ISSUES",
    });
  });

  it("asks with the project's own persona once it is trusted; a broken one is refused before anybody is asked", async () => {
    const own = "---\nname: spec_qa_agent\nrole: spec-qa\ndescription: ours\nversion: 1\n---\nYou read our way.\n";
    for (const [persona, trusted, asked] of [
      [own, false, /^You are a tester/],
      [own, true, /^You read our way/],
      ["no head", true, undefined],
    ] as const) {
      await using at = await room();
      await at.bench.repo.commit("persona", { ".orch/personas/spec_qa_agent.md": persona });
      if (trusted) await at.context.trust.grant(await at.context.trust.state());
      const made = make(at.context, "Billing/Invoice", "Totals");
      if (asked === undefined) {
        assert.equal((await refused(made)).code, "persona.invalid");
        assert.equal(at.model.asked.length, 0);
      } else {
        await made;
        assert.match(at.model.asked[1]?.messages[0]?.content ?? "", asked);
      }
    }
  });
});
