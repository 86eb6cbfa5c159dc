import assert from "node:assert/strict";
import { testsNotRun, untrustedTests } from "../../../shared/app/tests-not-run.ts";

describe("tests that were not run", () => {
  const look = (...tests: Parameters<typeof testsNotRun>[0]): readonly unknown[] => {
    const error = testsNotRun(tests, "abc");
    return error === undefined ? [] : [error.code, error.exit, error.message, error.hint];
  };

  it("none: whatever else they said, it is not this that decides", () => {
    assert.deepEqual(look(), []);
    assert.deepEqual(look({ outcome: "passed" }, { outcome: "failed" }, { outcome: "no-tests", why: "none" }), []);
  });

  it("for want of trust: exit 7, with the way to look and the content to name", () => {
    assert.deepEqual(look({ outcome: "not-run", why: "no pytest" }, { outcome: "not-run", why: untrustedTests }), [
      "trust.needed",
      7,
      "the tests of 2 features were not run: this repository is not trusted to run its code",
      "Look and decide with: orch trust; without a terminal, once looked at: orch trust --hash abc",
    ]);
  });

  it("for want of a program: exit 5, with what the pack says of it", () => {
    assert.deepEqual(look({ outcome: "passed" }, { outcome: "not-run", why: "No Python with pytest was found" }), [
      "env.missing-tool",
      5,
      "the tests of 1 feature were not run: No Python with pytest was found",
      "Install what is missing, then run: orch qa",
    ]);
  });
});
