import assert from "node:assert/strict";
import { confirm } from "../../../shared/app/confirm.ts";
import { isOrchError } from "../../../shared/model/error.ts";
import type { Answer, Editor, Question } from "../../../shared/ports/editor.ts";

const question = {
  title: "Discard Billing/Invoice: 2 commits, 3 uncommitted files?",
  detail: "Files: a, b, c",
  yes: "Discard it",
};
const signal = new AbortController().signal;

function editorThat(
  interactive: boolean,
  answer: Answer | undefined,
): { readonly editor: Editor; readonly asked: Question[] } {
  const asked: Question[] = [];
  const editor: Editor = {
    host: "cli",
    interactive,
    activeFile: async () => undefined,
    ask: async (one) => {
      asked.push(one);
      return answer;
    },
    notify: () => undefined,
    progress: () => undefined,
    showDiff: async () => undefined,
    showFindings: () => undefined,
    open: async () => undefined,
  };
  return { editor, asked };
}

describe("confirm", () => {
  it("asks with the numbers and mints on yes", async () => {
    const { editor, asked } = editorThat(true, { choice: "yes", by: "somebody" });
    const confirmed = await confirm(editor, false, question, signal);
    assert.deepEqual(confirmed, { __brand: "Confirmed", what: question.title, by: "person" });
    assert.deepEqual(
      [asked.length, asked[0]?.title, asked[0]?.detail, asked[0]?.otherwise],
      [1, question.title, question.detail, undefined],
    );
  });

  for (const [title, answer] of [
    ["no", { choice: "no", by: "somebody" }],
    ["a dismissed question", undefined],
    ["words instead of a choice", { text: "yes", by: "somebody" }],
  ] as const) {
    it(`mints nothing on ${title}`, async () => {
      assert.equal(await confirm(editorThat(true, answer).editor, false, question, signal), undefined);
    });
  }

  it("takes --yes without asking", async () => {
    const { editor, asked } = editorThat(true, undefined);
    assert.equal((await confirm(editor, true, question, signal))?.by, "--yes");
    assert.equal(asked.length, 0);
  });

  it("refuses when nobody is there", async () => {
    const { editor, asked } = editorThat(false, { choice: "yes", by: "nobody" });
    await assert.rejects(confirm(editor, false, question, signal), (error) => {
      assert.ok(isOrchError(error, "confirm.needed"));
      assert.deepEqual([error.exit, error.hint], [2, "Run it again with --yes once you have read what goes"]);
      assert.match(error.message, /2 commits, 3 uncommitted files/);
      return true;
    });
    assert.equal(asked.length, 0);
  });
});
