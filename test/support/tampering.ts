/**
 * Ways to make tests say less, and honest edits that look like them, in five languages. An edit is a text of the base
 * and what takes its place; `rule` is the category that must be among the findings. Honest edits must not fail.
 */
export interface Edit {
  readonly what: string;
  /** Pairs: what stands there, what takes its place. */
  readonly edits: readonly (readonly [string, string])[];
}
export interface Cheat extends Edit {
  readonly rule: string;
}
export interface TamperedLanguage {
  readonly path: string;
  readonly base: string;
  readonly cheats: readonly Cheat[];
  readonly honest: readonly Edit[];
}

const cheat = (rule: string, what: string, ...edits: (readonly [string, string])[]): Cheat => ({ rule, what, edits });
const honest = (what: string, ...edits: (readonly [string, string])[]): Edit => ({ what, edits });

const python: TamperedLanguage = {
  path: "tests/test_stock.py",
  base: `import pytest

from stock import Stock, StockError, price


@pytest.fixture
def stock():
    return Stock()


def check_level(stock, want):
    assert stock.level() == want


def test_empty(stock):
    assert stock.level() == 0


def test_adds(stock):
    stock.add("nut", 30)
    stock.add("bolt", 45)
    assert stock.level() == 75
    assert "nut" in stock.names()


def test_refuses(stock):
    with pytest.raises(StockError, match="negative"):
        stock.add("nut", -1)


@pytest.mark.parametrize("count, want", [(1, 250), (4, 980), (12, 2880)])
def test_price(count, want):
    assert price(count) == want


def test_ratio(stock):
    assert stock.ratio() == pytest.approx(0.25, abs=1e-6)


class TestOrder:
    def test_next(self, stock):
        assert stock.next() == "bolt"
`,
  cheats: [
    cheat("assertion_removed", "a line less", ["    assert stock.level() == 75\n", ""]),
    cheat("assertion_removed", "in a comment", ['    assert "nut" in', '    # assert "nut" in']),
    cheat("assertion_removed", "in a string", [
      "    assert stock.level() == 75\n",
      '    """assert stock.level() == 75"""\n',
    ]),
    cheat("assertion_removed", "the value alone", ["assert stock.next() == ", "stock.next(), "]),
    cheat("assertion_removed", "the helper says nothing", [
      "    assert stock.level() == want\n",
      "    stock.level()\n",
    ]),
    cheat("assertion_removed", "cases of the table", ["(4, 980), (12, 2880)", "(4, 980)"]),
    cheat("assertion_weakened", "or True", ["level() == 75", "level() == 75 or True"]),
    cheat("assertion_weakened", "or something", ["level() == 75", "level() == 75 or stock.level() > 0"]),
    cheat("assertion_weakened", "truth", ["assert stock.level() == 75", "assert stock.level()"]),
    cheat("assertion_weakened", "not None", ["assert stock.level() == 75", "assert stock.level() is not None"]),
    cheat("assertion_weakened", "the type", ["assert stock.level() == 75", "assert isinstance(stock.level(), int)"]),
    cheat("assertion_weakened", "a bound", ["stock.level() == 75", "stock.level() >= 0"]),
    cheat("assertion_weakened", "a tuple", ["assert stock.level() == 75", 'assert (stock.level() == 75, "level")']),
    cheat("assertion_weakened", "True", ["assert stock.level() == 75", "assert True"]),
    cheat("assertion_weakened", "with itself", ["stock.level() == 75", "stock.level() == stock.level()"]),
    cheat("assertion_weakened", "with itself under a name", [
      "    assert price(count) == want",
      "    want = price(count)\n    assert price(count) == want",
    ]),
    cheat("assertion_weakened", "any exception", [
      'pytest.raises(StockError, match="negative")',
      "pytest.raises(Exception)",
    ]),
    cheat("assertion_weakened", "no message", ['StockError, match="negative"', "StockError"]),
    cheat("assertion_weakened", "tolerance", ["abs=1e-6", "abs=0.5"]),
    cheat("assertion_weakened", "membership", ['stock.next() == "bolt"', 'stock.next() in ("bolt", "nut", None)']),
    cheat("assertion_weakened", "swallowed", [
      "    assert stock.level() == 75\n",
      "    try:\n        assert stock.level() == 75\n    except AssertionError:\n        pass\n",
    ]),
    cheat("assertion_weakened", "swallowed in the helper", [
      "    assert stock.level() == want\n",
      "    try:\n        assert stock.level() == want\n    except AssertionError:\n        return\n",
    ]),
    cheat(
      "assertion_removed",
      "a helper that swallows takes its place",
      ["    assert stock.level() == 75\n", "    calm(stock, 75)\n"],
      [
        "def test_empty",
        "def calm(stock, want):\n    try:\n        assert stock.level() == want\n    except AssertionError:\n        pass\n\n\ndef test_empty",
      ],
    ),
    cheat("assertion_weakened", "under a condition", [
      "    assert stock.level() == 75\n",
      "    if stock.level():\n        assert stock.level() == 75\n",
    ]),
    cheat("assertion_weakened", "in a function nobody calls", [
      "    assert stock.level() == 75\n",
      "    def later():\n        assert stock.level() == 75\n",
    ]),
    cheat("assertion_weakened", "over nothing", [
      "    assert stock.level() == 75\n",
      "    for _ in []:\n        assert stock.level() == 75\n",
    ]),
    cheat("test_disabled", "a return", [
      "    assert stock.level() == 75\n",
      "    return\n    assert stock.level() == 75\n",
    ]),
    cheat("test_disabled", "async", ["def test_adds(", "async def test_adds("]),
    cheat("test_disabled", "a generator", ['    stock.add("bolt", 45)\n', '    stock.add("bolt", 45)\n    yield\n']),
    cheat("test_disabled", "the same name", [
      "class TestOrder",
      "def test_adds(stock):\n    pass\n\n\nclass TestOrder",
    ]),
    cheat("test_disabled", "behind a condition", [
      "def test_empty(stock):\n    assert stock.level() == 0\n",
      "if False:\n\n    def test_empty(stock):\n        assert stock.level() == 0\n",
    ]),
    cheat("test_disabled", "__test__", ["class TestOrder:\n", "class TestOrder:\n    __test__ = False\n\n"]),
    cheat("test_disabled", "del", ["class TestOrder", "del test_adds\n\n\nclass TestOrder"]),
    cheat("test_removed", "gone", ["def test_empty(stock):\n    assert stock.level() == 0\n\n\n", ""]),
    cheat("test_removed", "another name", ["def test_empty", "def _test_empty"]),
    cheat("test_removed", "a class that is not collected", ["class TestOrder", "class OrderChecks"]),
    cheat("skip_marker", "skip", ["def test_empty", "@pytest.mark.skip\ndef test_empty"]),
    cheat("skip_marker", "skipif", ["def test_empty", '@pytest.mark.skipif(True, reason="x")\ndef test_empty']),
    cheat("skip_marker", "xfail", ["def test_empty", "@pytest.mark.xfail\ndef test_empty"]),
    cheat("skip_marker", "in a case", ["(4, 980)", "pytest.param(4, 980, marks=pytest.mark.skip)"]),
    cheat("skip_marker", "in the body", [
      '    stock.add("nut", 30)\n',
      '    pytest.skip("later")\n    stock.add("nut", 30)\n',
    ]),
    cheat("skip_marker", "of the class", ["class TestOrder", "@pytest.mark.skip\nclass TestOrder"]),
    cheat("skip_marker", "of the file", ["@pytest.fixture", "pytestmark = pytest.mark.skip\n\n\n@pytest.fixture"]),
    cheat("skip_marker", "of unittest", ["def test_empty", '@unittest.skip("x")\ndef test_empty']),
    cheat("mock_of_sut", "replaced and asserted", [
      "    assert price(count) == want",
      '    with patch("stock.price", return_value=want):\n        assert stock.price(count) == want',
    ]),
    cheat("vacuous_test", "a new test that swallows its own failure", [
      "class TestOrder",
      "def test_more(stock):\n    try:\n        assert stock.level() == 1\n    except Exception:\n        pass\n\n\nclass TestOrder",
    ]),
    cheat("expected_value_changed", "another value", ["level() == 75", "level() == 76"]),
    cheat("expected_value_changed", "turned round", ["level() == 75", "level() != 75"]),
  ],
  honest: [
    honest("layout", [
      "    assert stock.level() == 75\n",
      "    assert (\n        stock.level()\n        == 75\n    )\n",
    ]),
    honest("a message", ["assert stock.level() == 75", 'assert stock.level() == 75, "level"']),
    honest("one more", [
      "    assert stock.level() == 75\n",
      '    assert stock.level() == 75\n    assert stock.level("nut") == 30\n',
    ]),
    honest("a stronger one", ['assert "nut" in stock.names()', 'assert stock.names() == ["nut", "bolt"]']),
    honest("split in two", [
      "    assert stock.level() == 75\n    assert",
      '    assert stock.level() == 75\n\n\ndef test_names(stock):\n    stock.add("nut", 30)\n    assert',
    ]),
    honest(
      "moved to another test",
      ['    assert "nut" in stock.names()\n', ""],
      ["    assert stock.level() == 0\n", '    assert stock.level() == 0\n    assert "nut" in stock.names()\n'],
    ),
    honest("another test name", ["def test_empty", "def test_nothing_in_it"]),
    honest("a new test", [
      "class TestOrder",
      "def test_clear(stock):\n    stock.clear()\n    assert stock.level() == 0\n\n\nclass TestOrder",
    ]),
    honest("tighter", ["abs=1e-6", "abs=1e-9"]),
    honest("the style of unittest", [
      "    assert stock.level() == 75\n",
      "    case = unittest.TestCase()\n    case.assertEqual(stock.level(), 75)\n",
    ]),
    honest("a helper", ["    assert stock.level() == 75\n", "    check_level(stock, 75)\n"]),
    honest("in a loop", [
      "    assert stock.level() == 0\n",
      "    for _ in range(3):\n        assert stock.level() == 0\n",
    ]),
    honest("one more case", ["(12, 2880)", "(12, 2880), (20, 4700)"]),
    honest("a marker that has a name of its own", ["def test_empty", "@pytest.mark.slow\ndef test_empty"]),
    honest("a new test for one system", [
      "class TestOrder",
      '@pytest.mark.skipif(sys.platform == "win32", reason="paths")\ndef test_path(stock):\n    assert stock.path() == "/x"\n\n\nclass TestOrder',
    ]),
    honest("a variable for the value", [
      "    assert stock.level() == 75\n",
      "    got = stock.level()\n    assert got == 75\n",
    ]),
    honest("an async test with its mark", [
      "class TestOrder",
      "@pytest.mark.asyncio\nasync def test_later(stock):\n    assert await stock.later() == 1\n\n\nclass TestOrder",
    ]),
    honest("a comment", ["def test_empty", "# the level starts at zero\ndef test_empty"]),
    honest("another function", ["stock.next()", "stock.following()"]),
    honest("quotes", ['"bolt"\n', "'bolt'\n"]),
    honest("a helper that tries again and fails at last", [
      "    assert stock.level() == want\n",
      "    try:\n        assert stock.level() == want\n    except AssertionError as error:\n        raise AssertionError(want) from error\n",
    ]),
    honest("tests that are there when a package is", [
      "def test_empty(stock):\n    assert stock.level() == 0\n",
      "try:\n    import numpy\n\n    def test_empty(stock):\n        assert stock.level() == 0\nexcept ImportError:\n    numpy = None\n",
    ]),
  ],
};

const tsCheats = (t: string): readonly Cheat[] => [
  cheat("assertion_removed", "a line less", ["    expect(s.level()).toBe(75);\n", ""]),
  cheat("assertion_removed", "in a comment", ["    expect(s.level())", "    // expect(s.level())"]),
  cheat("assertion_removed", "the call alone", ["expect(s.next()).toEqual(", "s.next(), ("]),
  cheat("assertion_removed", "cases of the table", ["[4, 980],\n", ""], ["[12, 2880],\n", ""]),
  cheat("assertion_weakened", "defined", ["expect(s.level()).toBe(75)", "expect(s.level()).toBeDefined()"]),
  cheat("assertion_weakened", "truthy", ["expect(s.level()).toBe(75)", "expect(s.level()).toBeTruthy()"]),
  cheat("assertion_weakened", "a bound", ["toBe(75)", "toBeGreaterThan(0)"]),
  cheat("assertion_weakened", "the type", ["expect(s.level()).toBe(75)", "expect(typeof s.level()).toBe('number')"]),
  cheat("assertion_weakened", "true", ["expect(s.level()).toBe(75)", "expect(true).toBe(true)"]),
  cheat("assertion_weakened", "with itself", ["expect(s.level()).toBe(75)", "expect(s.level()).toBe(s.level())"]),
  cheat("assertion_weakened", "anything", ['toEqual({ name: "bolt", count: 45 })', "toEqual(expect.anything())"]),
  cheat("assertion_weakened", "partial", ['toEqual({ name: "bolt", count: 45 })', 'toMatchObject({ name: "bolt" })']),
  cheat("assertion_weakened", "any error", ['toThrow("negative")', "toThrow()"]),
  cheat("assertion_weakened", "digits", ["toBeCloseTo(0.25, 6)", "toBeCloseTo(0.25, 0)"]),
  cheat("assertion_weakened", "or", ["expect(s.level()).toBe(75)", "expect(s.level() === 75 || true).toBe(true)"]),
  cheat("assertion_weakened", "swallowed", [
    "    expect(s.level()).toBe(75);\n",
    "    try {\n      expect(s.level()).toBe(75);\n    } catch {}\n",
  ]),
  cheat("assertion_weakened", "swallowed in the helper", [
    "  expect(s.names()).toEqual(want);\n",
    "  try {\n    expect(s.names()).toEqual(want);\n  } catch {\n    return;\n  }\n",
  ]),
  cheat("assertion_weakened", "swallowed in the function under a name", [
    "(s) => expect(s.size()).toBe(2);\n",
    "(s) => {\n  try {\n    expect(s.size()).toBe(2);\n  } catch {}\n};\n",
  ]),
  cheat("assertion_weakened", "under a condition", [
    "    expect(s.level()).toBe(75);\n",
    "    if (s.level()) {\n      expect(s.level()).toBe(75);\n    }\n",
  ]),
  cheat("assertion_weakened", "nobody waits", ["    await expect(s.later()).rejects", "    expect(s.later()).rejects"]),
  cheat("assertion_weakened", "in a function nobody calls", [
    "    expect(s.level()).toBe(75);\n",
    "    const check = () => {\n      expect(s.level()).toBe(75);\n    };\n",
  ]),
  cheat("test_disabled", "a return", [
    "    expect(s.level()).toBe(75);\n",
    "    return;\n    expect(s.level()).toBe(75);\n",
  ]),
  cheat("test_removed", "gone", [
    `  ${t}("starts empty", () => {\n    expect(new Stock().level()).toBe(0);\n  });\n`,
    "",
  ]),
  cheat("test_removed", "not called", [`${t}("starts empty"`, 'later("starts empty"']),
  cheat("skip_marker", "skip", [`${t}("starts empty"`, `${t}.skip("starts empty"`]),
  cheat("skip_marker", "x", [`${t}("starts empty"`, `x${t}("starts empty"`]),
  cheat("skip_marker", "todo", [
    `${t}("starts empty", () => {\n    expect(new Stock().level()).toBe(0);\n  });`,
    `${t}.todo("starts empty");`,
  ]),
  cheat("skip_marker", "the group", ['describe("stock"', 'describe.skip("stock"']),
  cheat("skip_marker", "fails", [`${t}("starts empty"`, `${t}.fails("starts empty"`]),
  cheat("skip_marker", "an option", [`${t}("starts empty", () =>`, `${t}("starts empty", { skip: true }, () =>`]),
  cheat("skip_marker", "skipIf", [`${t}("starts empty"`, `${t}.skipIf(true)("starts empty"`]),
  cheat("focus_marker", "only", [`${t}("starts empty"`, `${t}.only("starts empty"`]),
  cheat("focus_marker", "f", ['describe("stock"', 'fdescribe("stock"']),
  cheat("expected_value_changed", "another value", ["toBe(75)", "toBe(76)"]),
  cheat("expected_value_changed", "turned round", ["expect(s.level()).toBe(75)", "expect(s.level()).not.toBe(75)"]),
  cheat("mock_of_sut", "replaced and asserted", [
    "    expect(s.level()).toBe(75);\n",
    '    vi.spyOn(s, "level").mockReturnValue(75);\n    expect(s.level()).toBe(75);\n',
  ]),
  cheat("vacuous_test", "a new test that swallows its own failure", [
    `  ${t}("starts empty"`,
    `  ${t}("more", () => {\n    try {\n      expect(new Stock().level()).toBe(1);\n    } catch {}\n  });\n\n  ${t}("starts empty"`,
  ]),
  cheat("timeout_raised", "more time", ["  }, 500);", "  }, 60000);"]),
];
const tsHonest = (t: string): readonly Edit[] => [
  honest("layout", ["expect(s.level()).toBe(75);", "expect(\n      s.level(),\n    ).toBe(75);"]),
  honest("one more", [
    "    expect(s.level()).toBe(75);\n",
    "    expect(s.level()).toBe(75);\n    expect(s.names()).toHaveLength(2);\n",
  ]),
  honest("stronger", ["toBe(75)", "toStrictEqual(75)"]),
  honest("another test name", ['"starts empty"', '"has nothing at first"']),
  honest("a group around it", [
    `  ${t}("starts empty", () => {\n    expect(new Stock().level()).toBe(0);\n  });\n`,
    `  describe("new", () => {\n    ${t}("starts empty", () => {\n      expect(new Stock().level()).toBe(0);\n    });\n  });\n`,
  ]),
  honest("a new test", [
    `  ${t}("starts empty"`,
    `  ${t}("clears", () => {\n    expect(new Stock().clear()).toBe(0);\n  });\n\n  ${t}("starts empty"`,
  ]),
  honest("tighter", ["toBeCloseTo(0.25, 6)", "toBeCloseTo(0.25, 9)"]),
  honest("a variable", [
    "    expect(s.level()).toBe(75);\n",
    "    const level = s.level();\n    expect(level).toBe(75);\n",
  ]),
  honest("one more case", ["[12, 2880],\n", "[12, 2880],\n    [20, 4700],\n"]),
  honest("a collaborator is replaced", [
    "    expect(s.level()).toBe(75);\n",
    '    vi.spyOn(api, "fetch").mockReturnValue(1);\n    expect(s.level()).toBe(75);\n',
  ]),
  honest("a comment", [`  ${t}("starts empty"`, `  // nothing was added yet\n  ${t}("starts empty"`]),
  honest("less time", ["  }, 500);", "  }, 200);"]),
  honest("words in a string", ['"starts empty"', '"starts empty, it.skip and it.only are words"']),
  honest("a callback that is handed on", [
    "    expect(s.level()).toBe(75);\n",
    "    s.each(() => {\n      expect(s.level()).toBe(75);\n    });\n",
  ]),
  honest("the helper tells more", [
    "  expect(s.names()).toEqual(want);\n",
    "  try {\n    expect(s.names()).toEqual(want);\n  } catch (error) {\n    throw new Error(`names of ${want}`, { cause: error });\n  }\n",
  ]),
  honest("waits by return", ["    await expect(s.later()).rejects", "    return expect(s.later()).rejects"]),
  honest("the message too", ['toThrow("negative")', "toThrow(/negative/)"]),
];
const tsBase = (t: string, from: string): string => `import { describe, expect, ${t}, vi } from "vitest";
import { Stock } from "${from}";

function checkNames(s, want) {
  expect(s.names()).toEqual(want);
}
const checkSize = (s) => expect(s.size()).toBe(2);

describe("stock", () => {
  ${t}("starts empty", () => {
    expect(new Stock().level()).toBe(0);
  });

  ${t}("adds", async () => {
    const s = new Stock();
    s.add("nut", 30);
    s.add("bolt", 45);
    checkNames(s, ["nut", "bolt"]);
    checkSize(s);
    expect(s.level()).toBe(75);
    expect(s.next()).toEqual({ name: "bolt", count: 45 });
    expect(() => s.add("nut", -1)).toThrow("negative");
    expect(s.ratio()).toBeCloseTo(0.25, 6);
    await expect(s.later()).rejects.toThrow("late");
  }, 500);

  ${t}.each([
    [1, 250],
    [4, 980],
    [12, 2880],
  ])("prices %i", (count, want) => {
    expect(new Stock().price(count)).toBe(want);
  });
});
`;

const go: TamperedLanguage = {
  path: "stock/stock_test.go",
  base: `package stock

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestEmpty(t *testing.T) {
	if got := New().Level(); got != 0 {
		t.Errorf("got %d", got)
	}
}

func TestAdds(t *testing.T) {
	s := New()
	s.Add("nut", 30)
	if got := s.Level(); got != 75 {
		t.Fatalf("got %d", got)
	}
	assert.Equal(t, "bolt", s.Next())
	assert.NoError(t, s.Close())
}

func TestPrice(t *testing.T) {
	tests := []struct{ count, want int }{
		{1, 250},
		{4, 980},
		{12, 2880},
	}
	for _, tc := range tests {
		t.Run("price", func(t *testing.T) {
			if got := Price(tc.count); got != tc.want {
				t.Errorf("got %d", got)
			}
		})
	}
}
`,
  cheats: [
    cheat("assertion_removed", "only logged", ['t.Fatalf("got %d", got)', 't.Logf("got %d", got)']),
    cheat("assertion_removed", "gone", ['	if got := s.Level(); got != 75 {\n		t.Fatalf("got %d", got)\n	}\n', ""]),
    cheat("assertion_removed", "testify's gone", ['	assert.Equal(t, "bolt", s.Next())\n', ""]),
    cheat("assertion_removed", "in a comment", ['	assert.Equal(t, "bolt"', '	// assert.Equal(t, "bolt"']),
    cheat("assertion_removed", "cases", ["		{4, 980},\n		{12, 2880},\n", ""]),
    cheat("assertion_weakened", "and false", ["got != 75 {", "got != 75 && false {"]),
    cheat("assertion_weakened", "a bound", ["got != 75 {", "got < 0 {"]),
    cheat("assertion_weakened", "not zero", ['assert.Equal(t, "bolt", s.Next())', "assert.NotEmpty(t, s.Next())"]),
    cheat("assertion_weakened", "with itself", [
      'assert.Equal(t, "bolt", s.Next())',
      "assert.Equal(t, s.Next(), s.Next())",
    ]),
    cheat("assertion_weakened", "true", ['assert.Equal(t, "bolt", s.Next())', "assert.True(t, true)"]),
    cheat("assertion_weakened", "contains", ['assert.Equal(t, "bolt", s.Next())', 'assert.Contains(t, s.Next(), "b")']),
    cheat("assertion_weakened", "recovered", ["	s := New()\n", "	defer func() { _ = recover() }()\n	s := New()\n"]),
    cheat("assertion_weakened", "under a condition", [
      '	assert.Equal(t, "bolt", s.Next())\n',
      '	if s.Ready() {\n		assert.Equal(t, "bolt", s.Next())\n	}\n',
    ]),
    cheat(
      "test_disabled",
      "a return",
      ['	assert.Equal(t, "bolt"', '	return\n	assert.Equal(t, "bolt"'],
      ["	if got := s.Level(); got != 75 {", "	return\n	if got := s.Level(); got != 75 {"],
    ),
    cheat("test_disabled", "a build tag", ["package stock\n", "//go:build slow\n\npackage stock\n"]),
    cheat("test_removed", "gone", [
      'func TestEmpty(t *testing.T) {\n	if got := New().Level(); got != 0 {\n		t.Errorf("got %d", got)\n	}\n}\n',
      "",
    ]),
    cheat("test_removed", "small letter", ["func TestEmpty(", "func testEmpty("]),
    cheat("skip_marker", "skip", ["	s := New()\n", '	t.Skip("later")\n	s := New()\n']),
    cheat("skip_marker", "short", ["	s := New()\n", "	if testing.Short() {\n		t.SkipNow()\n	}\n	s := New()\n"]),
    cheat("expected_value_changed", "another value", ["got != 75 {", "got != 76 {"]),
    cheat("expected_value_changed", "turned round", ["got != 75 {", "got == 75 {"]),
  ],
  honest: [
    honest("another message", ['t.Fatalf("got %d", got)', 't.Fatalf("level: got %d, want 75", got)']),
    honest("Errorf for Fatalf", ["t.Fatalf(", "t.Errorf("]),
    honest("testify for if", [
      '	if got := s.Level(); got != 75 {\n		t.Fatalf("got %d", got)\n	}\n',
      "	assert.Equal(t, 75, s.Level())\n",
    ]),
    honest("one more", [
      "	assert.NoError(t, s.Close())\n",
      "	assert.NoError(t, s.Close())\n	assert.Equal(t, 2, s.Len())\n",
    ]),
    honest("a new test", [
      "func TestPrice",
      'func TestClear(t *testing.T) {\n	if New().Clear() != 0 {\n		t.Error("not clear")\n	}\n}\n\nfunc TestPrice',
    ]),
    honest("one more case", ["{12, 2880},\n", "{12, 2880},\n		{20, 4700},\n"]),
    honest("another name", ["func TestEmpty", "func TestNothingAtFirst"]),
    honest("parallel", ["	s := New()\n", "	t.Parallel()\n	s := New()\n"]),
    honest("a new test for one system", [
      "func TestPrice",
      'func TestPath(t *testing.T) {\n	if runtime.GOOS == "windows" {\n		t.Skip("paths")\n	}\n	assert.Equal(t, "/x", New().Path())\n}\n\nfunc TestPrice',
    ]),
    honest("a variable", ["	if got := s.Level(); got != 75 {", "	got := s.Level()\n	if got != 75 {"]),
    honest("a comment", ["func TestEmpty", "// nothing was added yet\nfunc TestEmpty"]),
  ],
};

const rust: TamperedLanguage = {
  path: "src/lib.rs",
  base: `pub fn price(count: u32) -> u32 {
    count * 250
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one() {
        assert_eq!(price(1), 250);
    }

    #[test]
    fn more() {
        let got = price(4);
        assert_eq!(got, 980);
        assert!(price(12) > 2000);
        assert!(find("nut").is_none());
    }

    #[test]
    fn table() {
        for (count, want) in [(1, 250), (4, 980), (12, 2880)] {
            assert_eq!(price(count), want);
        }
    }
}
`,
  cheats: [
    cheat("assertion_removed", "gone", ["        assert_eq!(got, 980);\n", ""]),
    cheat("assertion_removed", "in a comment", ["        assert_eq!(got", "        // assert_eq!(got"]),
    cheat("assertion_removed", "cases", ["(4, 980), (12, 2880)]", "(4, 980)]"]),
    cheat("assertion_weakened", "true", ["assert_eq!(got, 980)", "assert!(true)"]),
    cheat("assertion_weakened", "or true", ["assert_eq!(got, 980)", "assert!(got == 980 || true)"]),
    cheat("assertion_weakened", "a bound", ["assert_eq!(got, 980)", "assert!(got > 0)"]),
    cheat("assertion_weakened", "a lower bound", ["price(12) > 2000", "price(12) > 1"]),
    cheat("assertion_weakened", "with itself", ["assert_eq!(got, 980)", "assert_eq!(got, got)"]),
    cheat("assertion_weakened", "not equal", [
      "assert_eq!(price(1), 250)",
      "assert!(price(1) != 0 || price(1) == 250)",
    ]),
    cheat("assertion_weakened", "under a condition", [
      "        assert_eq!(got, 980);\n",
      "        if got > 0 {\n            assert_eq!(got, 980);\n        }\n",
    ]),
    cheat("assertion_weakened", "caught", [
      "        let got = price(4);\n",
      "        let _ = std::panic::catch_unwind(|| price(4));\n        let got = price(4);\n",
    ]),
    cheat("test_disabled", "a return", [
      "        assert_eq!(price(1), 250);\n",
      "        return;\n        assert_eq!(price(1), 250);\n",
    ]),
    cheat("test_disabled", "a feature", ["#[cfg(test)]\nmod", '#[cfg(all(test, feature = "all"))]\nmod']),
    cheat("test_disabled", "a feature of one test", [
      "    #[test]\n    fn more",
      '    #[test]\n    #[cfg(feature = "all")]\n    fn more',
    ]),
    cheat("test_removed", "gone", ["    #[test]\n    fn one() {\n        assert_eq!(price(1), 250);\n    }\n", ""]),
    cheat("test_removed", "no attribute", ["    #[test]\n    fn one", "    #[allow(dead_code)]\n    fn one"]),
    cheat("skip_marker", "ignore", ["    #[test]\n    fn one", "    #[test]\n    #[ignore]\n    fn one"]),
    cheat("skip_marker", "ignore with a reason", [
      "    #[test]\n    fn one",
      '    #[test]\n    #[ignore = "slow"]\n    fn one',
    ]),
    cheat("skip_marker", "should panic", ["    #[test]\n    fn one", "    #[test]\n    #[should_panic]\n    fn one"]),
    cheat("expected_value_changed", "another value", ["got, 980", "got, 990"]),
    cheat("expected_value_changed", "turned round", ["assert_eq!(got, 980)", "assert_ne!(got, 980)"]),
  ],
  honest: [
    honest("a message", ["assert_eq!(got, 980)", 'assert_eq!(got, 980, "four")']),
    honest("layout", [
      "assert_eq!(price(1), 250);",
      "assert_eq!(\n            price(1),\n            250,\n        );",
    ]),
    honest("one more", [
      "        assert_eq!(got, 980);\n",
      "        assert_eq!(got, 980);\n        assert_eq!(price(0), 0);\n",
    ]),
    honest("stronger", ["assert!(price(12) > 2000)", "assert_eq!(price(12), 2880)"]),
    honest("a new test", [
      "    #[test]\n    fn table",
      "    #[test]\n    fn none() {\n        assert_eq!(price(0), 0);\n    }\n\n    #[test]\n    fn table",
    ]),
    honest("a new test that panics", [
      "    #[test]\n    fn table",
      '    #[test]\n    #[should_panic(expected = "negative")]\n    fn bad() {\n        price(u32::MAX);\n    }\n\n    #[test]\n    fn table',
    ]),
    honest("one more case", ["(12, 2880)]", "(12, 2880), (20, 4700)]"]),
    honest("another name", ["fn one()", "fn a_single_one()"]),
    honest("the source alone", ["count * 250", "count * 245"]),
    honest("a module for one system", [
      "#[cfg(test)]\nmod",
      "#[cfg(unix)]\nmod extra {\n    pub fn f() {}\n}\n\n#[cfg(test)]\nmod",
    ]),
    honest("a variable", [
      "        assert_eq!(price(1), 250);\n",
      "        let got = price(1);\n        assert_eq!(got, 250);\n",
    ]),
  ],
};

const java: TamperedLanguage = {
  path: "src/test/java/example/StockTest.java",
  base: `package example;

import static org.junit.jupiter.api.Assertions.*;

import org.junit.jupiter.api.Test;

class StockTest {
    @Test
    void startsEmpty() {
        assertEquals(0, new Stock().level());
    }

    @Test
    void adds() {
        Stock s = new Stock();
        s.add("nut", 30);
        assertEquals(75, s.level());
        assertThat(s.next()).isEqualTo("bolt");
        assertTrue(s.has("nut"));
        assertThrows(StockException.class, () -> s.add("nut", -1));
    }

    @ParameterizedTest
    @CsvSource({"1,250", "4,980", "12,2880"})
    void prices(int count, int want) {
        assertEquals(want, Stock.price(count));
    }
}
`,
  cheats: [
    cheat("assertion_removed", "gone", ["        assertEquals(75, s.level());\n", ""]),
    cheat("assertion_removed", "in a comment", ["        assertTrue(", "        // assertTrue("]),
    cheat("assertion_removed", "cases", ['"4,980", "12,2880"', '"4,980"']),
    cheat("assertion_weakened", "not null", ["assertEquals(75, s.level())", "assertNotNull(s.level())"]),
    cheat("assertion_weakened", "true", ["assertEquals(75, s.level())", "assertTrue(true)"]),
    cheat("assertion_weakened", "a bound", ["assertEquals(75, s.level())", "assertTrue(s.level() > 0)"]),
    cheat("assertion_weakened", "with itself", ["assertEquals(75, s.level())", "assertEquals(s.level(), s.level())"]),
    cheat("assertion_weakened", "fluent", ['isEqualTo("bolt")', "isNotNull()"]),
    cheat("assertion_weakened", "fluent type", ['isEqualTo("bolt")', "isInstanceOf(String.class)"]),
    cheat("assertion_weakened", "any exception", ["StockException.class", "Exception.class"]),
    cheat("assertion_weakened", "or true", ['assertTrue(s.has("nut"))', 'assertTrue(s.has("nut") || true)']),
    cheat("assertion_weakened", "swallowed", [
      "        assertEquals(75, s.level());\n",
      "        try {\n            assertEquals(75, s.level());\n        } catch (AssertionError e) {\n        }\n",
    ]),
    cheat("assertion_weakened", "under a condition", [
      "        assertEquals(75, s.level());\n",
      "        if (s.level() > 0) {\n            assertEquals(75, s.level());\n        }\n",
    ]),
    cheat(
      "test_disabled",
      "a return",
      [
        "        assertEquals(75, s.level());\n",
        "        if (true) { }\n        return;\n        assertEquals(75, s.level());\n",
      ],
      ["        Stock s = new Stock();\n        s.add", "        Stock s = new Stock();\n        s.add"],
    ),
    cheat("test_removed", "gone", [
      "    @Test\n    void startsEmpty() {\n        assertEquals(0, new Stock().level());\n    }\n",
      "",
    ]),
    cheat("test_removed", "no annotation", ["    @Test\n    void startsEmpty", "    void startsEmpty"]),
    cheat("skip_marker", "disabled", [
      "    @Test\n    void startsEmpty",
      '    @Disabled("later")\n    @Test\n    void startsEmpty',
    ]),
    cheat("skip_marker", "the class", ["class StockTest", "@Disabled\nclass StockTest"]),
    cheat("skip_marker", "an assumption", [
      "        Stock s = new Stock();\n",
      "        assumeTrue(false);\n        Stock s = new Stock();\n",
    ]),
    cheat("skip_marker", "a condition", [
      "    @Test\n    void startsEmpty",
      '    @EnabledIfSystemProperty(named = "a", matches = "b")\n    @Test\n    void startsEmpty',
    ]),
    cheat("expected_value_changed", "another value", ["assertEquals(75, s.level())", "assertEquals(76, s.level())"]),
    cheat("expected_value_changed", "turned round", ["assertEquals(75, s.level())", "assertNotEquals(75, s.level())"]),
    cheat("timeout_raised", "more time", [
      "    @Test\n    void startsEmpty",
      "    @Test\n    @Timeout(600)\n    void startsEmpty",
    ]),
  ],
  honest: [
    honest("a message", ["assertEquals(75, s.level())", 'assertEquals(75, s.level(), "level")']),
    honest("AssertJ", ["assertEquals(75, s.level())", "assertThat(s.level()).isEqualTo(75)"]),
    honest("layout", ["assertEquals(75, s.level());", "assertEquals(\n            75,\n            s.level());"]),
    honest("one more", [
      "        assertEquals(75, s.level());\n",
      "        assertEquals(75, s.level());\n        assertEquals(2, s.size());\n",
    ]),
    honest("with a value", ['assertTrue(s.has("nut"))', 'assertEquals(true, s.has("nut"))']),
    honest("a new test", [
      "    @Test\n    void adds",
      "    @Test\n    void clears() {\n        assertEquals(0, new Stock().clear());\n    }\n\n    @Test\n    void adds",
    ]),
    honest("one more case", ['"12,2880"', '"12,2880", "20,4700"']),
    honest("another name", ["void startsEmpty", "void hasNothingAtFirst"]),
    honest("a name for people", [
      "    @Test\n    void startsEmpty",
      '    @Test\n    @DisplayName("skip and only are words")\n    void startsEmpty',
    ]),
    honest("a variable", [
      "        assertEquals(75, s.level());\n",
      "        int level = s.level();\n        assertEquals(75, level);\n",
    ]),
    honest("exactly", ["assertThrows(", "assertThrowsExactly("]),
  ],
};

export const tampered: Readonly<Record<string, TamperedLanguage>> = {
  python,
  typescript: {
    path: "test/stock.test.ts",
    base: tsBase("it", "../src/stock.js"),
    cheats: tsCheats("it"),
    honest: tsHonest("it"),
  },
  javascript: {
    path: "lib/__tests__/stock.test.js",
    base: tsBase("test", "../stock.js"),
    cheats: tsCheats("test").filter(({ what }) => what !== "x"),
    honest: tsHonest("test"),
  },
  go,
  rust,
  java,
};
