import assert from "node:assert/strict";
import fc from "fast-check";
import { Lexical, type TextView, textViews } from "../../../shared/model/rule.ts";
import { viewsOf } from "../../../shared/rulebook/views.ts";
import { pythonLexical } from "../../support/rulebook.ts";

const lexical = Lexical.parse(pythonLexical);

const table: readonly {
  readonly what: string;
  readonly view: TextView;
  readonly text: string;
  readonly wanted: string;
}[] = [
  { what: "comments go, strings are muted", view: "code", text: "x = 'a b'  # c\n", wanted: "x = 'xxx'     \n" },
  { what: "a hash in a string is no comment", view: "code", text: 's = "# no"\n', wanted: 's = "xxxx"\n' },
  {
    what: "a quote in a comment opens nothing",
    view: "code",
    text: "x # don't\ny = 'k'\n",
    wanted: "x        \ny = 'x'\n",
  },
  { what: "an escaped quote does not close", view: "code", text: "s = 'a\\'b'; t\n", wanted: "s = 'xxxx'; t\n" },
  { what: "line ends in a long string are muted too", view: "code", text: '"""a\nb"""\nc\n', wanted: '"""xxx"""\nc\n' },
  {
    what: "a string that is not closed ends with its line",
    view: "code",
    text: "s = 'abc\nt = 1\n",
    wanted: "s = 'xxx\nt = 1\n",
  },
  {
    what: "a long string that is not closed ends with the text",
    view: "code",
    text: 's = """abc\nt',
    wanted: 's = """xxxxx',
  },
  {
    what: "a backslash escapes the quote of a raw string too",
    view: "code",
    text: "x = r'a\\' + b\n",
    wanted: "x = r'xxxxxxx\n",
  },
  { what: "prefix letters stay", view: "code", text: "x = r'ab' + rb\"b\"\n", wanted: "x = r'xx' + rb\"x\"\n" },
  { what: "brackets join lines", view: "logical", text: "f(a,\n  b)\n", wanted: "f(a, b)\n" },
  { what: "no blank after an opener or before a closer", view: "logical", text: "f(\n  a\n)\n", wanted: "f(a)\n" },
  { what: "a comma keeps its blank before a closer", view: "logical", text: "f(\n  a,\n)\n", wanted: "f(a, )\n" },
  { what: "a continuation joins", view: "logical", text: "a = 1 + \\\n    2\n", wanted: "a = 1 + 2\n" },
  {
    what: "comment lines stay as #, blank lines stay",
    view: "logical",
    text: "a\n\n  # why\nb  # c\n",
    wanted: "a\n\n  #\nb\n",
  },
  { what: "comments inside brackets go", view: "logical", text: "f(  # why\n  a)\n", wanted: "f(a)\n" },
  { what: "bracket contents are left out", view: "flat", text: "x = f(a, {1: 2})[3:4]: y\n", wanted: "x = f()[]: y\n" },
  {
    what: "bracket contents of several lines too",
    view: "flat",
    text: "if (a or\n    b): c\nd\n",
    wanted: "if (): c\nd\n",
  },
  { what: "adjacent literals become one", view: "joined", text: "k = 'AK' + 'IA' 'x'\n", wanted: "k = 'AKIAx'\n" },
  { what: "a comma keeps literals apart", view: "joined", text: "f('a', 'b')\n", wanted: "f('a', 'b')\n" },
  { what: "an empty literal is no junction", view: "joined", text: "f('', 'b', \"\")\n", wanted: "f('', 'b', \"\")\n" },
];

const script = Lexical.parse({
  comments: [{ open: "//" }, { open: "/*", close: "*/" }],
  strings: [{ open: "`", multiline: true }, { open: '"' }, { open: "'" }],
  literals: [{ open: "/", after: "(,=:[!&|?{;", words: ["return", "typeof"] }],
});
const literals: readonly (readonly [string, string, string])[] = [
  ["a quote in a regular expression opens no string", "a = /['`]/; b('c')\n", "a = /xxxx/; b('x')\n"],
  ["a slash in brackets does not close", "f(/[/\\]]'/g, 1) // c\n", "f(/xxxxxx/g, 1)     \n"],
  ["an escaped slash does not close", "x = /\\/'/; 'y'\n", "x = /xxx/; 'x'\n"],
  ["behind a value it is a division", "a / b / 'c'\n", "a / b / 'x'\n"],
  ["behind a bracket it is a division", "(a) / 2; x['y'] / 'c'\n", "(a) / 2; x['x'] / 'x'\n"],
  ["behind a string it is a division", "'a' / 'b' / 'c'\n", "'x' / 'x' / 'x'\n"],
  ["behind a word that wants a value", "return /'/.test(a)\n", "return /x/.test(a)\n"],
  ["a property of that name is a value", "a.return / 'b' / c\n", "a.return / 'x' / c\n"],
  ["a word that only ends so is a value", "myreturn / 'b' / c\n", "myreturn / 'x' / c\n"],
  ["a comment between does not count", "x = /* ' */ /'/\n", "x =         /x/\n"],
  ["where the text begins", "/'/.test(a)\n", "/x/.test(a)\n"],
  ["one that is not closed on its line is none", "x = /'a\nb = 'c'\n", "x = /'x\nb = 'x'\n"],
  ["comments are longer than it", "x = //'\n/*'*/'y'\n", "x =    \n     'x'\n"],
];

describe("views of a text with literals", () => {
  for (const [what, text, wanted] of literals)
    it(what, () => assert.equal(viewsOf(text, script).view("code").text, wanted));
});

describe("views of a text", () => {
  for (const { what, view, text, wanted } of table) {
    it(`${view}: ${what}`, () => assert.equal(viewsOf(text, lexical).view(view).text, wanted));
  }

  it("line ends are LF and a byte order mark is gone", () => {
    assert.equal(viewsOf("\uFEFFa\r\nb\rc\n", lexical).text, "a\nb\nc\n");
  });

  it("offsets lead back to the source", () => {
    const views = viewsOf("f(a,\n  bcd)\nif (x\n    ): y\n", lexical);
    const logical = views.view("logical");
    const flat = views.view("flat");
    assert.deepEqual(
      [
        views.lineOf(logical.sourceOf(logical.text.indexOf("bcd"))),
        views.lineOf(flat.sourceOf(flat.text.indexOf("y"))),
      ],
      [2, 4],
    );
  });

  it("the comments of a statement are those of all its lines", () => {
    const views = viewsOf("a = 1  # one\nf(x,  # two\n  y)  # three\n", lexical);
    assert.equal(views.commentsAt(views.text.indexOf("y)")), "# two# three");
  });

  it("whatever the text, views keep lengths and offsets stay inside", () => {
    const piece = fc.constantFrom(
      "'",
      '"',
      '"""',
      "#",
      "\n",
      "\\",
      "(",
      ")",
      "[",
      "]",
      " ",
      "\t",
      "r",
      "f",
      "a",
      "=",
      ",",
      "\r\n",
      "é",
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 60 }), (pieces) => {
        const views = viewsOf(pieces.join(""), lexical);
        assert.equal(views.view("code").text.length, views.text.length);
        for (const name of textViews) {
          const { text, sourceOf } = views.view(name);
          let last = -1;
          for (let at = 0; at < text.length; at += 1) {
            const source = sourceOf(at);
            assert.ok(source >= last && source <= views.text.length, `${name} at ${at}`);
            last = source;
          }
        }
      }),
      { numRuns: 300 },
    );
  });
});
