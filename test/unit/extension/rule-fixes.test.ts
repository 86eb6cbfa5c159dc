import assert from "node:assert/strict";
import { applyFix, ruleFix } from "../../../extension/rule-fixes.ts";

describe("fixes of rules", () => {
  // rule, text, 0-based line, message, mended text (undefined: no fix)
  const rows: readonly (readonly [string, string, number, string, string | undefined])[] = [
    ["pep8.W291", "a = 1  \nb = 2\n", 0, "", "a = 1\nb = 2\n"],
    ["pep8.W291", "a = 1\n", 0, "", undefined],
    ["pep8.W293", "a = 1\n   \nb = 2\n", 1, "", "a = 1\n\nb = 2\n"],
    ["pep8.W191", "if a:\n\t\tb = 1\n", 1, "", "if a:\n        b = 1\n"],
    ["pep8.W292", "a = 1", 0, "", "a = 1\n"],
    ["pep8.W391", "a = 1\n\n\n", 1, "", "a = 1\n"],
    ["pep8.W391", "a = 1\n", 0, "", undefined],
    ["pep8.E302", "import os\ndef f():\n    pass\n", 1, "", "import os\n\n\ndef f():\n    pass\n"],
    ["pep8.E302", "import os\n\n\ndef f():\n    pass\n", 3, "", undefined],
    ["pep8.E303", "a = 1\n\n\n\n\nb = 2\n", 5, "", "a = 1\n\n\nb = 2\n"],
    ["pep8.E703", "a = 1;\n", 0, "", "a = 1\n"],
    ["pep8.E711", "if a == None:\n", 0, "", "if a is None:\n"],
    ["pep8.E711", "if a != None:\n", 0, "", "if a is not None:\n"],
    ["pep8.E713", "if not a.b in c:\n", 0, "", "if a.b not in c:\n"],
    ["pep8.E714", "if not a is b:\n", 0, "", "if a is not b:\n"],
    ["py.unused-import", "import os\nimport re\n", 0, "os is imported and not used", "import re\n"],
    ["py.unused-import", "from a import b, c as d, e\n", 0, "d is imported and not used", "from a import b, e\n"],
    ["py.unused-import", "import os.path\n", 0, "os is imported and not used", ""],
    ["py.unused-import", "from a import (\n    b,\n)\n", 0, "b is imported and not used", undefined],
    ["py.unused-import", "from a import b\n", 0, "z is imported and not used", undefined],
    ["py.breakpoint", "a = 1\nbreakpoint()\nb = 2\n", 1, "", "a = 1\nb = 2\n"],
    ["py.breakpoint", "f(breakpoint())\n", 0, "", undefined],
    ["py.raise-notimplemented", "raise NotImplemented\n", 0, "", "raise NotImplementedError\n"],
    ["pep8.E722", "except:\n", 0, "", undefined],
  ];
  for (const [rule, text, line, message, mended] of rows) {
    it(`${rule}: ${JSON.stringify(text)}`, () => {
      const fix = ruleFix(rule, text, line, message);
      assert.equal(fix && applyFix(text, fix), mended);
    });
  }
});
