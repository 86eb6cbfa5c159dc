import assert from "node:assert/strict";
import fc from "fast-check";
import { amended, endsWithAmendment } from "../../../shared/features/amend.ts";
import { parseSpec } from "../../../shared/features/spec.ts";

const date = "2026-11-30";
const old = "# Invoice\n\n## Overview\n\nTotals.\n\n## Rules\n\n1. A rule.\n\n## Notes of ours\n\nKeep me.\n";
const block = (n: number, words: string): string => `## CONTRACT AMENDMENT ${n} (${date})\n\n${words}\n`;

describe("amended, without a model", () => {
  const rows: readonly (readonly [string, string, string])[] = [
    ["after the last line", old, `${old}\n${block(1, "Round up")}`],
    ["without a final line end", old.trimEnd(), `${old.trimEnd()}\n\n${block(1, "Round up")}`],
    ["with CRLF", old.replaceAll("\n", "\r\n"), `${old}\n${block(1, "Round up")}`.replaceAll("\n", "\r\n")],
    ["with a byte order mark", `\uFEFF${old}`, `\uFEFF${old}\n${block(1, "Round up")}`],
    ["an empty spec", "", block(1, "Round up")],
    [
      "the next number",
      `${old}\n${block(1, "First")}\n${block(4, "Fourth")}`,
      `${old}\n${block(1, "First")}\n${block(4, "Fourth")}\n${block(5, "Round up")}`,
    ],
    ["a fence that was left open", `${old}\n\`\`\`\ncode\n`, `${old}\n\`\`\`\ncode\n\`\`\`\n\n${block(1, "Round up")}`],
  ];
  for (const [name, before, after] of rows) {
    it(name, () => assert.equal(amended(before, { date, request: "Round up" }).text, after));
  }

  it("keeps every byte of before, and the request word for word, whatever they hold", () => {
    const words = fc.string({
      unit: fc.constantFrom("a", " ", "\n", "#", "`", "~", "-", "=", "|", "1."),
      maxLength: 40,
    });
    fc.assert(
      fc.property(
        words,
        words.filter((text) => text.trim() !== ""),
        (tail, request) => {
          const before = `${old}\n${tail}`;
          const { text, number } = amended(before, { date, request });
          assert.ok(text.startsWith(before));
          assert.ok(text.includes(request.trim()));
          assert.equal(parseSpec(text).amendments.at(-1)?.number, number);
          assert.equal(parseSpec(text).amendments.length, parseSpec(before).amendments.length + 1);
          assert.ok(endsWithAmendment(text, { date, request }));
        },
      ),
      { numRuns: 500 },
    );
  });
});

describe("amended, with a model's body", () => {
  const body = "# Invoice\n\n## Overview\n\nTotals, rounded.\n\n## Rules\n\n1. A rule.\n2. Round up.\n";

  it("takes the body, keeps what it left out, and all earlier amendments as they stand", () => {
    const before = `${old}\n## CONTRACT AMENDMENT 1 (2026-01-01)\n\nFirst,\n  as typed.\n`;
    const { text, number } = amended(before, { date, request: "Round up" }, body);
    assert.equal(number, 2);
    assert.equal(
      text,
      `${body}\n## Notes of ours\n\nKeep me.\n\n## CONTRACT AMENDMENT 1 (2026-01-01)\n\nFirst,\n  as typed.\n\n${block(2, "Round up")}`,
    );
  });

  it("a section that is only called unchanged is the old one; one of a new name is what it says", () => {
    const told =
      "# Invoice\n\n## Overview\n\n*(unchanged)*\n\n## Rules\n\n1. A rule.\n2. Round up.\n\n## New\n\nUnchanged.\n";
    const { text } = amended(old, { date, request: "x" }, told);
    const bodies = parseSpec(text).sections.map(({ name, body: said }) => [name, said]);
    assert.deepEqual(bodies, [
      ["Overview", "Totals."],
      ["Rules", "1. A rule.\n2. Round up."],
      ["New", "Unchanged."],
      ["Notes of ours", "Keep me."],
    ]);
  });

  it("puts a section back where it was", () => {
    const { text } = amended(old, { date, request: "x" }, "# Invoice\n\n## Notes of ours\n\nChanged.\n");
    assert.deepEqual(
      parseSpec(text).sections.map(({ name }) => name),
      ["Overview", "Rules", "Notes of ours"],
    );
    assert.match(text, /Totals\.[\s\S]*A rule\.[\s\S]*Changed\./);
  });

  it("never takes an amendment from the model", () => {
    const forged = `${body}\n${block(1, "Forged")}\n${block(2, "Forged too")}`;
    const { text, number } = amended(old, { date, request: "Mine" }, forged);
    assert.equal(number, 1);
    assert.ok(!text.includes("Forged"));
    assert.deepEqual(
      parseSpec(text).amendments.map((one) => one.body),
      ["Mine"],
    );
  });

  it("keeps line ends, mark and the words before the first section", () => {
    const before = `\uFEFF${old.replace("# Invoice\n", "# Invoice\n\nOwner: us.\n")}`.replaceAll("\n", "\r\n");
    const { text } = amended(before, { date, request: "x" }, body);
    assert.ok(text.startsWith("\uFEFF# Invoice\r\n\r\nOwner: us.\r\n\r\n## Overview\r\n"));
    assert.ok(!/[^\r]\n/.test(text));
  });

  it("fences words that would open a section", () => {
    const { text } = amended(old, { date, request: "Do this:\n## Rules\n```\nx" }, body);
    assert.match(text, /\n````text\nDo this:\n## Rules\n```\nx\n````\n$/);
    assert.equal(parseSpec(text).sections.filter(({ name }) => name === "Rules").length, 1);
  });
});
