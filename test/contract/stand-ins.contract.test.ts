import assert from "node:assert/strict";
import { createTestsGate } from "../../shared/gates/tests.ts";
import { loadRules } from "../../shared/rulebook/load.ts";
import { found, gateInput, sliceDir, sliceFacts, typescriptPack } from "../support/gate-input.ts";
import { installedRules, realSyntax } from "../support/rulebook.ts";

const path = `${sliceDir}/Tests.py`;

/** Tests of a feature that replace the feature, and those that replace what it calls, read by the real grammar. */
describe("stand-ins in a feature's tests", function () {
  this.timeout(600_000);
  const gate = createTestsGate({ book: loadRules({ sources: installedRules(), switches: {} }), syntax: realSyntax() });
  const said = (text: string): Promise<readonly string[]> =>
    found(gate, gateInput({ slice: sliceFacts(), before: {}, after: { [path]: text } }));

  const replaced = (line: number): readonly string[] => [`FAIL mock_of_sut ${path}:${line}`];
  const real = "def test_half() -> None:\n    assert handle('HALF', 100.01) == 50\n";
  const fakes: readonly (readonly [string, string, readonly string[]])[] = [
    ["none", `from .Handler import handle\n\n\n${real}`, []],
    [
      "a function of its name",
      `from .Handler import handle\n\n\ndef handle(*_):\n    return 50\n\n\n${real}`,
      replaced(4),
    ],
    ["another under its name", `from .Handler import (\n    handle,\n)\n\nhandle = max\n\n\n${real}`, replaced(5)],
    [
      "a member of its module",
      `from . import Handler\n\nHandler.handle = max\nhandle = Handler.handle\n\n\n${real}`,
      replaced(3),
    ],
    [
      "a member that is set",
      `from . import Handler as h\n\nsetattr(h, "handle", max)\nhandle = h.handle\n\n\n${real}`,
      replaced(3),
    ],
    [
      "an argument of its name, and a text",
      `from .Handler import handle\n\n\ndef make(handle):\n    return handle\n\n\nmade = make(\n    handle=3,\n)\nTEXT = """\nhandle = 3\n"""\n\n\n${real}`,
      [],
    ],
    [
      "patched around every test",
      `from unittest.mock import patch\n\nfrom . import Handler\n\n\n@fixture(autouse=True)\ndef fake():\n    with patch.object(Handler, "handle", max):\n        yield\n\n\n${real.replace("handle(", "Handler.handle(")}`,
      replaced(8),
    ],
    [
      "what the code calls is replaced, and a helper has a method of that name",
      `from unittest.mock import patch\n\nfrom . import Handler\nfrom .Handler import handle\n\n\nclass Bus:\n    def handle(self, what):\n        return what\n\n\n${real.replace("    assert", '    with patch.object(Handler, "today", max):\n        assert')}`,
      [],
    ],
  ];
  for (const [name, text, wanted] of fakes)
    it(`stand-ins: ${name}`, async () => assert.deepEqual(await said(text), wanted));

  const py = (imports: string, ...lines: string[]): string =>
    `from unittest.mock import patch\n${imports}\n\n\n${lines.join("\n")}\n`;
  const at = (severity: string, line: number, of = path): readonly string[] => [
    `${severity} mock_of_sut ${of}:${line}`,
  ];
  const module = "from . import Handler";
  const test = "def test_a(monkeypatch, mocker):";
  const asked = "    assert Handler.handle(1) == 350";
  const rows: readonly (readonly [string, string, readonly string[]])[] = [
    // What the code calls, not the feature's own answer.
    ["a clock by assignment", py(module, test, "    Handler.today = lambda: date(2024, 1, 1)", asked), []],
    [
      "a cache that is emptied",
      py(module, "def setup_function():", "    Handler._cache = {}", "", "", test, asked),
      [],
    ],
    ["another feature's limit", py("from features.Shop import Handler", "Handler.LIMIT = 4", "", "", test, asked), []],
    [
      "another feature's function",
      py("from features.Shop import Handler", test, "    Handler.handle = max", asked),
      [],
    ],
    ["its own function, by assignment", py(module, test, "    Handler.handle = max", asked), at("FAIL", 6)],
    [
      "its own function, by the whole path",
      py("import features.Billing.Invoice.Handler as Handler", test, "    Handler.handle = max", asked),
      at("FAIL", 6),
    ],
    [
      "its own function, as a module that is loaded",
      py('Handler = importlib.import_module(".Handler", __package__)', test, "    Handler.handle = max", asked),
      at("FAIL", 6),
    ],
    // Names that only look like replacements.
    [
      "a keyword argument on its own line",
      py(
        "from .Handler import discount, handle",
        test,
        "    order = Order(",
        "        total=400,",
        "        discount=50,",
        "    )",
        "    assert handle(order) == 350",
        "    assert discount(order) == 50",
      ),
      [],
    ],
    [
      "a method, self on its own line",
      py(
        "from .Handler import handle",
        "class Bus:",
        "    def handle(",
        "        self,",
        "    ):",
        "        return 1",
        "",
        "",
        test,
        "    assert handle(Bus()) == 350",
      ),
      [],
    ],
    [
      "a static method of a double",
      py(
        "from .Handler import handle",
        "class Bus:",
        "    @staticmethod",
        "    def handle(what):",
        "        return what",
        "",
        "",
        test,
        "    assert handle(Bus()) == 350",
      ),
      [],
    ],
    [
      "a local of a helper",
      py(
        "from .Handler import handle, order",
        "def make():",
        '    order = {"id": 1}',
        "    return order",
        "",
        "",
        test,
        "    assert handle(make()) == 350",
        "    assert order(1) == 2",
      ),
      [],
    ],
    [
      "a local of a helper that is a function",
      py(
        "from .Handler import handle, order",
        "def make():",
        "    order = lambda: 1",
        "    return order()",
        "",
        "",
        test,
        "    assert handle(make()) == 350",
        "    assert order(1) == 2",
      ),
      [],
    ],
    [
      "a local that holds a result",
      py("from .Handler import handle, total", test, '    total = handle(1)["total"]', "    assert total == 350"),
      [],
    ],
    [
      "a text",
      py(
        "from .Handler import handle, total",
        'TABLE = """',
        "total = 350",
        '"""',
        "",
        "",
        test,
        "    assert handle(TABLE) == 350",
        "    assert total(1) == 1",
      ),
      [],
    ],
    [
      "a wrapper with the usual arguments",
      py(
        "from .Handler import handle as real",
        "def handle(order):",
        "    made = real(order, tax=0)",
        "    return made",
        "",
        "",
        test,
        "    assert handle(1) == 350",
      ),
      [],
    ],
    [
      "a wrapper whose answer is its own",
      py(
        "from .Handler import handle as real",
        "def handle(order):",
        "    real(order)",
        "    return 350",
        "",
        "",
        test,
        "    assert handle(1) == 350",
      ),
      at("WARN", 5),
    ],
    [
      "its name over another one",
      py(
        "from .Handler import handle as real",
        "def handle(order):",
        "    return 350",
        "",
        "",
        test,
        "    assert handle(1) == 350",
      ),
      at("FAIL", 5),
    ],
    [
      "a local function of its name",
      py("from .Handler import handle", test, "    handle = lambda *_: 350", "    assert handle(1) == 350"),
      at("FAIL", 6),
    ],
    [
      "a partial of it",
      py("from .Handler import handle", "handle = partial(handle, tax=0)", "", "", test, "    assert handle(1) == 350"),
      [],
    ],
    [
      "a definition that the import takes the place of",
      py("handle = max", "from .Handler import handle", "", "", test, "    assert handle(1) == 350"),
      [],
    ],
    [
      "a class of its name",
      py(
        "from .Handler import Cart",
        "class Cart:",
        "    def total(self):",
        "        return 350",
        "",
        "",
        test,
        "    assert Cart().total() == 350",
      ),
      at("FAIL", 5),
    ],
    [
      "a class made from it",
      py(
        "from .Handler import Cart",
        "class Cart(Cart):",
        "    rate = 0",
        "",
        "",
        test,
        "    assert Cart().total() == 350",
      ),
      [],
    ],
    // What mocks guess.
    [
      "a request, and a dictionary",
      py(
        module,
        test,
        '    monkeypatch.setattr(Handler.requests, "get", fake)',
        '    assert Handler.handle("EUR").get("total") == 350',
      ),
      at("WARN", 6),
    ],
    [
      "the time, and a time of the result",
      py(
        module,
        test,
        '    with patch("features.Billing.Invoice.Handler.time.time", return_value=350):',
        '        assert Handler.handle("EUR").time() == 350',
      ),
      at("WARN", 6),
    ],
    [
      "a clock that says what is expected",
      py(
        module,
        test,
        '    monkeypatch.setattr(Handler, "now", lambda: 350)',
        '    result = Handler.handle("EUR")',
        "    assert result.at == Handler.now()",
      ),
      at("WARN", 6),
    ],
    [
      "a clock, and a result of elsewhere",
      py(
        module,
        "def test_a(monkeypatch, result):",
        '    monkeypatch.setattr(Handler, "now", lambda: 350)',
        "    assert result.at == Handler.now()",
      ),
      at("WARN", 6),
    ],
    [
      "the very thing, by setattr",
      py(
        module,
        test,
        '    monkeypatch.setattr(Handler, "handle", lambda *_: 350)',
        "    result = Handler.handle(1)",
        "    assert result == 350",
      ),
      at("FAIL", 6),
    ],
    [
      "the very thing, by its path",
      py(
        module,
        test,
        '    with patch("features.Billing.Invoice.Handler.handle", return_value=350):',
        "        assert Handler.handle(1) == 350",
      ),
      at("FAIL", 6),
    ],
    [
      "the very thing, expected first",
      py(
        module,
        test,
        '    monkeypatch.setattr(Handler, "handle", lambda *_: 350)',
        "    assert 350 == Handler.handle(1)",
      ),
      at("FAIL", 6),
    ],
    [
      "the very thing, around a test",
      py(module, '@patch.object(Handler, "handle", return_value=350)', "def test_a(_):", asked),
      at("FAIL", 5),
    ],
    [
      "the very thing, by a helper",
      py(
        module,
        "def run(x):",
        "    return Handler.handle(x)",
        "",
        "",
        test,
        '    monkeypatch.setattr(Handler, "handle", max)',
        "    assert run(1) == 350",
      ),
      at("FAIL", 10),
    ],
    [
      "a method of its class",
      py(
        "from .Handler import Cart",
        test,
        '    monkeypatch.setattr(Cart, "total", lambda self: 350)',
        "    cart = Cart(1)",
        "    assert cart.total() == 350",
      ),
      at("FAIL", 6),
    ],
    [
      "a stand-in that gives one of the feature's shapes",
      py(
        `${module}\nfrom .Schema import Result`,
        test,
        '    monkeypatch.setattr(Handler, "handle", lambda *_: Result(350))',
        "    assert Handler.handle(1) == Result(350)",
      ),
      at("FAIL", 7),
    ],
    [
      "a name that was taken before",
      py(
        `${module}\nfrom .Handler import handle`,
        test,
        '    monkeypatch.setattr(Handler, "handle", max)',
        "    assert handle(1) == 350",
        "    assert Handler.post(1) == 350",
      ),
      at("WARN", 7),
    ],
    ["a spy", py(module, test, '    spy = mocker.spy(Handler, "handle")', asked, "    assert spy.call_count == 1"), []],
    [
      "one that calls through",
      py(module, test, '    with patch.object(Handler, "handle", wraps=Handler.handle) as spy:', `    ${asked}`),
      [],
    ],
    [
      "the real one put back",
      py(
        module,
        test,
        "    real = Handler.handle",
        "    Handler.handle = max",
        "    Handler.post(1)",
        "    Handler.handle = real",
        asked,
      ),
      [],
    ],
    [
      "asserted when it is over",
      py(module, test, '    with patch.object(Handler, "handle", max):', "        Handler.post(1)", asked),
      at("WARN", 6),
    ],
    [
      "a fixture of other tests",
      py(
        module,
        "@pytest.fixture",
        "def faked(monkeypatch):",
        '    monkeypatch.setattr(Handler, "handle", max)',
        "",
        "",
        "def test_post(faked):",
        "    assert Handler.post(1) == 3",
        "",
        "",
        test,
        asked,
      ),
      [],
    ],
    [
      "a fixture of this test",
      py(
        module,
        "@pytest.fixture",
        "def faked(monkeypatch):",
        '    monkeypatch.setattr(Handler, "handle", max)',
        "",
        "",
        "def test_a(faked):",
        asked,
      ),
      at("FAIL", 7),
    ],
    [
      "a name that a setup makes global",
      py(
        "from .Handler import handle",
        "def setup_module():",
        "    global handle",
        "    handle = lambda *_: 350",
        "",
        "",
        test,
        "    assert handle(1) == 350",
      ),
      at("FAIL", 7),
    ],
  ];
  for (const [name, text, wanted] of rows) it(name, async () => assert.deepEqual(await said(text), wanted));

  const tsPath = `${sliceDir}/Tests.ts`;
  const ts = (imports: string, ...lines: string[]): string =>
    `import assert from "node:assert/strict";\nimport { mock, test } from "node:test";\n${imports}\n\n${lines.join("\n")}\n`;
  const inTest = (...lines: string[]): readonly string[] => [
    'test("a", () => {',
    ...lines.map((line) => `  ${line}`),
    "});",
  ];
  const cart = 'import { Cart } from "./Handler.ts";';
  const tsRows: (readonly [string, string, readonly string[]])[] = [
    [
      "its name over another one",
      ts(
        'import { handle as real } from "./Handler.ts";',
        "const handle = () => 350;",
        "void real;",
        ...inTest('assert.equal(handle("x"), 350);'),
      ),
      at("FAIL", 5, tsPath),
    ],
    [
      "a wrapper",
      ts(
        'import { handle as real } from "./Handler.ts";',
        "const handle = (x: number) => real({ x, tax: 0 });",
        ...inTest("assert.equal(handle(1), 350);"),
      ),
      [],
    ],
    [
      "a local function of its name",
      ts(
        'import { handle } from "./Handler.ts";',
        ...inTest("const handle = () => 350;", "assert.equal(handle(), 350);"),
      ),
      at("FAIL", 6, tsPath),
    ],
    [
      "an argument of its name",
      ts(
        'import { handle, rate } from "./Handler.ts";',
        ...inTest(
          "const order = make({",
          "  rate: () => 3,",
          "});",
          "assert.equal(handle(order), 350);",
          "assert.equal(rate(1), 2);",
        ),
      ),
      [],
    ],
    [
      "a spy that calls through",
      ts(
        cart,
        ...inTest(
          "const cart = new Cart();",
          'const spy = mock.method(cart, "total");',
          "assert.equal(cart.total(), 350);",
          "assert.equal(spy.mock.callCount(), 1);",
        ),
      ),
      [],
    ],
    [
      "a method with an answer",
      ts(
        cart,
        ...inTest(
          "const cart = new Cart();",
          'mock.method(cart, "total", () => 350);',
          "assert.equal(cart.total(), 350);",
        ),
      ),
      at("FAIL", 7, tsPath),
    ],
    [
      "a method of the class",
      ts(cart, ...inTest("Cart.prototype.total = () => 350;", "assert.equal(new Cart(1).total(), 350);")),
      at("FAIL", 6, tsPath),
    ],
    [
      "a method of another thing",
      ts(
        cart,
        ...inTest(
          "const cart = new Cart();",
          "const other = new Cart();",
          "other.total = () => 350;",
          "assert.equal(cart.add(other).count(), 350);",
        ),
      ),
      [],
    ],
    [
      "a store that fails",
      ts(
        'import { handle } from "./Handler.ts";',
        ...inTest(
          "const store = { get: (key: string) => 1 };",
          'store.get = () => { throw new Error("down"); };',
          'assert.equal(handle(store).get("x"), 350);',
        ),
      ),
      at("WARN", 7, tsPath),
    ],
    [
      "a clock",
      ts(
        'import * as Clock from "../Clock/Handler.ts";\nimport { handle } from "./Handler.ts";',
        ...inTest('mock.method(Clock, "now", () => 3);', "assert.equal(handle(1).at, 3);"),
      ),
      [],
    ],
    [
      "a member of the module",
      ts(
        'import * as Handler from "./Handler.ts";',
        ...inTest('mock.method(Handler, "handle", () => 350);', "assert.equal(Handler.handle(1), 350);"),
      ),
      at("FAIL", 6, tsPath),
    ],
    [
      "before each of the tests",
      ts(
        'import * as Handler from "./Handler.ts";',
        "beforeEach(() => {",
        '  mock.method(Handler, "handle", () => 350);',
        "});",
        ...inTest("assert.equal(Handler.handle(1), 350);"),
      ),
      at("FAIL", 6, tsPath),
    ],
    [
      "a loaded module",
      ts(
        "",
        'const { handle: real } = await import("./Handler.ts");',
        "const handle = () => 350;",
        "void real;",
        ...inTest("assert.equal(handle(), 350);"),
      ),
      at("FAIL", 6, tsPath),
    ],
  ];
  const load = 'const { handle } = await import("./Handler.ts");';
  tsRows.push(
    [
      "its module, by its place",
      ts(
        "",
        'mock.module("../Invoice/Handler.ts", { namedExports: { handle: () => 350 } });',
        load,
        ...inTest("assert.equal(handle(), 350);"),
      ),
      at("FAIL", 5, tsPath),
    ],
    [
      "its module, put before the imports",
      ts(
        'import { handle } from "./Handler.ts";',
        'vi.mock("./Handler.ts", () => ({ handle: () => 350 }));',
        ...inTest("expect(handle()).toBe(350);"),
      ),
      at("FAIL", 5, tsPath),
    ],
    [
      "its module, with the real one inside",
      ts(
        'import { handle } from "./Handler.ts";',
        'vi.mock("./Handler.ts", async (importOriginal) => ({ ...(await importOriginal()), today: () => 3 }));',
        ...inTest("expect(handle()).toBe(350);"),
      ),
      at("WARN", 5, tsPath),
    ],
    [
      "another feature's module",
      ts(
        "",
        'mock.module("../Shop/Handler.ts", { namedExports: { handle: () => 350 } });',
        load,
        ...inTest("assert.equal(handle(), 350);"),
      ),
      [],
    ],
  );
  for (const [name, text, wanted] of tsRows)
    it(`TypeScript: ${name}`, async () => {
      const slice = sliceFacts({ pack: typescriptPack });
      assert.deepEqual(await found(gate, gateInput({ slice, before: {}, after: { [tsPath]: text } })), wanted);
    });

  it("outside of a feature's tests a stand-in is for the reviewer to judge", async () => {
    const other = "tests/test_other.py";
    const text = `from unittest.mock import patch\n\nfrom src import price\n\n\ndef test_a():\n    with patch.object(price, "net", max):\n        assert price.net(1) == 1\n`;
    assert.deepEqual(await found(gate, gateInput({ before: {}, after: { [other]: text } })), [
      `WARN mock_of_sut ${other}:7`,
    ]);
  });
});
