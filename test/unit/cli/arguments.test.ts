import { deepEqual, equal, throws } from "node:assert/strict";
import { plainArgs } from "../../../shared/app/context.ts";
import { type Invocation, parseArguments } from "../../../shared/cli/arguments.ts";
import { isOrchError } from "../../../shared/model/error.ts";

const facts = { version: "1.2.3", ci: false, columns: 100 };

function parse(...argv: string[]): Invocation {
  const parsed = parseArguments(argv, facts);
  if (parsed.kind !== "run") throw new Error(parsed.text);
  return parsed.invocation;
}

describe("command line", () => {
  it("reads words, options and their short forms", () => {
    const { command, args } = parse(
      "new",
      "Billing/Invoice",
      "Totals",
      "with tax",
      "-m",
      "a/b",
      "--no-controller",
      "-y",
    );
    deepEqual(
      [command, args.words, args.model, args.controller, args.yes, args.push],
      ["new", ["Billing/Invoice", "Totals", "with tax"], "a/b", false, true, true],
    );
  });

  it("leaves out what was not given", () => {
    const { args } = parse("do");
    deepEqual(args, plainArgs);
  });

  it("takes -C, --verbose and --quiet before and after the command", () => {
    deepEqual([parse("-C", "x", "--quiet", "do").directory, parse("do", "-C", "y", "--verbose").directory], ["x", "y"]);
    deepEqual([parse("--quiet", "do").quiet, parse("do", "--verbose").verbose], [true, true]);
  });

  it("knows the two forms of --json and of --changed", () => {
    deepEqual([parse("qa", "--json").args.json, parse("qa", "--json=events").args.json], [true, "events"]);
    deepEqual([parse("qa", "--changed").args.changed, parse("qa", "--changed=main").args.changed], ["", "main"]);
  });

  it("asks nobody in CI", () => {
    const parsed = parseArguments(["do"], { ...facts, ci: true });
    equal(parsed.kind === "run" && parsed.invocation.args.input, false);
  });

  const texts: readonly (readonly [readonly string[], RegExp])[] = [
    [[], /Usage: orch/],
    [["--help"], /Usage: orch/],
    [["help", "do"], /Usage: orch do/],
    [["undo", "--help"], /It removes the feature's branch/],
    [["--version"], /^1\.2\.3$/m],
  ];
  for (const [argv, expected] of texts) {
    it(`prints for: orch ${argv.join(" ")}`, () => {
      const parsed = parseArguments(argv, facts);
      equal(parsed.kind === "text" && expected.test(parsed.text), true, JSON.stringify(parsed));
    });
  }

  const refusals: readonly (readonly [readonly string[], "usage.invalid" | "usage.unknown-command", RegExp])[] = [
    [["mrege"], "usage.unknown-command", /Did you mean: orch merge/],
    [["frobnicate"], "usage.unknown-command", /orch --help/],
    [["new"], "usage.invalid", /orch new --help/],
    [["do", "--max-attempts", "0"], "usage.invalid", /orch do --help/],
    [["do", "--max-attempts", "two"], "usage.invalid", /orch/],
    [["qa", "--json=xml"], "usage.invalid", /orch qa --help/],
    [["scan", "--frob"], "usage.invalid", /orch scan --help/],
    [["runs", "extra"], "usage.invalid", /orch runs --help/],
    [["help", "mrege"], "usage.unknown-command", /Did you mean: orch help merge/],
    [["help", "nope"], "usage.unknown-command", /^Run: orch --help$/],
    [["do", "--dry-rum"], "usage.invalid", /^Did you mean --dry-run\. All options: orch do --help$/],
    [["do", "--modle=x/y"], "usage.invalid", /^Did you mean --model\./],
    [["--verbos", "do"], "usage.invalid", /^Did you mean --verbose\./],
    [["--hlep"], "usage.invalid", /^Did you mean --help\. All options: orch --help$/],
    [["--vesrion"], "usage.invalid", /^Did you mean --version\./],
    [["status", "--hlp"], "usage.invalid", /^Did you mean --help\. All options: orch status --help$/],
    [["-x"], "usage.invalid", /^Run: orch --help$/],
    [["--dry-run", "do"], "usage.invalid", /^Put --dry-run after the command: orch do --dry-run\./],
    [["do", "--json", "Billing/Invoice"], "usage.invalid", /^Put --json last, or write --json=events\. /],
  ];
  for (const [argv, code, hint] of refusals) {
    it(`refuses: orch ${argv.join(" ")}`, () => {
      throws(
        () => parseArguments(argv, facts),
        (error) => isOrchError(error, code) && error.exit === 2 && hint.test(error.hint),
      );
    });
  }
});
