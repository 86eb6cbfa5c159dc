import assert from "node:assert/strict";
import { unusableReply } from "../../../shared/engine/unusable-reply.ts";

describe("engine/unusable-reply", () => {
  const cases: readonly (readonly [name: string, text: string, why: string | undefined])[] = [
    ["nothing", "", "empty"],
    ["white space", " \n\t\n", "empty"],
    ["words", "Here is the file.", undefined],
    ["whole files as JSON", '{"files": {"Schema.py": "x = 1\\n"}}', undefined],
    ["a file about tool calls, in JSON", '{"files": {"Tests.py": "<tool_calls>\\n<invoke name=\'x\'>"}}', undefined],
    ["a file about tool calls, in a fence", "```python\n<invoke name='x'>\n```\n", undefined],
    ["the words in a sentence", "The reply may hold <invoke or [TOOL_CALLS] as text.", undefined],
    ["qwen", '<tool_call>\n{"name": "write", "arguments": {"path": "x"}}\n</tool_call>', "tool-markup"],
    ["plural", "Sure.\n<tool_calls>", "tool-markup"],
    ["anthropic", '<function_calls>\n<invoke name="write">', "tool-markup"],
    ["invoke alone", '  <invoke name="bash">', "tool-markup"],
    ["llama", "<function=write_file>{}</function>", "tool-markup"],
    ["python tag", "<|python_tag|>import os", "tool-markup"],
    ["token form", "<|tool_call|>{}", "tool-markup"],
    ["open token form", "<|tool_calls_section_begin|>", "tool-markup"],
    ["deepseek", "<\uFF5Ctool\u2581calls\u2581begin\uFF5C>", "tool-markup"],
    ["mistral", '[TOOL_CALLS] [{"name": "x"}]', "tool-markup"],
    ["cline", "<write_to_file>\n<path>a</path>", "tool-markup"],
    ["gemma", "```tool_code\nprint(1)\n```", "tool-markup"],
    ["behind a sentence", 'I will write the file now: <tool_calls>\n<invoke name="write">', "tool-markup"],
    ["behind a sentence, in one line", 'Sure. <function_calls><invoke name="write">', "tool-markup"],
    ["invoke behind a sentence", 'Let me look: <invoke name="read">\n<parameter', "tool-markup"],
    ["behind the files it wrote", "Handler.py\n```python\nx = 1\n```\nDone. <tool_call>{", "tool-markup"],
    ["behind an object", '{"files": {"Handler.py": "x"}}\nNow: <invoke name="test">', "tool-markup"],
    ["only its end", '{"name": "write"} and so on</tool_call>', "tool-markup"],
    ["llama behind a sentence", "Calling <function=write_file>{}", "tool-markup"],
    ["mistral behind a sentence", 'Calling [TOOL_CALLS] [{"name": "x"}]', "tool-markup"],
    ["cline behind a sentence", "First: <read_file>\n<path>a</path>", "tool-markup"],
    ["a sentence about a tag", "The parser knows <tool_calls> and <invoke name='x'> elements.", undefined],
    ["a cited tag at the end of a line", 'An element "<invoke name=1>"\nis kept, `<tool_calls>`\ntoo.', undefined],
    [
      "a slice about XML in fences, with words",
      "`Handler.py`\n```python\nroot = '<invoke name=\"a\"><b/>'\nx = '<tool_calls>'\n```\nIt reads `<invoke name=\"a\">`\n",
      undefined,
    ],
    [
      "a slice about XML in JSON, then words",
      `${JSON.stringify({ files: { "Tests.py": 'x = """\n<tool_calls>\n  <invoke name="a">\n"""\n' } })}\nThat is all.`,
      undefined,
    ],
    [
      "a slice about XML in JSON with line breaks in its strings, then words",
      '{"files": {"Tests.py": "x = 1\n<tool_calls>\n<invoke name=1>\n"}} and that is all',
      undefined,
    ],
    [
      "a slice about XML in a SEARCH/REPLACE block without a fence",
      "Handler.py\n<<<<<<< SEARCH\n<tool_calls>\n=======\n<invoke name='x'>\n>>>>>>> REPLACE\n",
      undefined,
    ],
    ["behind such a block", "<<<<<<< SEARCH\na\n=======\nb\n>>>>>>> REPLACE\n<tool_calls>\n", "tool-markup"],
    ["a SEARCH block cut in its new lines", "Handler.py\n<<<<<<< SEARCH\na\n=======\nb", "truncated"],
    ["a SEARCH block cut in its old lines", "Handler.py\n<<<<<<< SEARCH\na", "truncated"],
    ["two blocks, the second cut", "<<<<<<< SEARCH\na\n=======\nb\n>>>>>>> REPLACE\n<<<<<<< SEARCH\nc", "truncated"],
    [
      "a sentence that ends in a tag, then a whole file",
      "I do not answer with <tool_call>\n```python Handler.py\nx = 1\n```\n",
      undefined,
    ],
    [
      "such a sentence, then a file with its name above, behind another file",
      "Schema.py\n```python\ny = 1\n```\nNo <invoke name='x'>\r\n\n`Handler.py`\n```python\nx = 1\n```\n",
      undefined,
    ],
    [
      "such a sentence, then a block to change a file",
      "No <tool_call>\nHandler.py\n<<<<<<< SEARCH\na\n=======\nb\n>>>>>>> REPLACE\n",
      undefined,
    ],
    ["such a sentence, then the files as JSON", 'No <tool_call>\n{"files": {"Handler.py": "x"}}', undefined],
    ["a call behind whole files", "`Handler.py`\n```python\nx = 1\n```\nNow <tool_call>\nwrite\n", "tool-markup"],
    ["a call that only shows its arguments", 'Now <tool_call>\n```json\n{"path": "x"}\n```\n', "tool-markup"],
    ["JSON call", '{"name": "write", "arguments": {"path": "a"}}', "tool-markup"],
    ["JSON calls", '[{"name": "write", "parameters": {}}]', "tool-markup"],
    ["JSON wrapper", '{"tool_calls": []}', "tool-markup"],
    ["a record with a name and more", '{"files": {}, "name": "x", "arguments": {}}', undefined],
    ["fence never closed", "# Invoice\n\n```python\ndef f():\n", "truncated"],
    ["longer fence around a shorter one", "````md\n```python\nx\n```\n````\n", undefined],
    ["longer fence not closed by a shorter one", "````md\n```python\nx\n```\n", "truncated"],
    ["tilde fence", "~~~\nx\n~~~", undefined],
    ["inline code that starts a line", "```x``` is code", undefined],
    ["JSON cut in a string", '{"files": {"Schema.py": "x = ', "truncated"],
    ["JSON cut between", '{"files": {"Schema.py": "x"},', "truncated"],
    ["JSON with a fault but whole", '{"files": {Schema: "x"}}', undefined],
    ["JSON then words", '{"files": {}} and more', undefined],
  ];
  for (const [name, text, why] of cases) {
    it(`${name}: ${why ?? "usable"}`, () => {
      assert.equal(unusableReply(text)?.why, why);
    });
  }
});
