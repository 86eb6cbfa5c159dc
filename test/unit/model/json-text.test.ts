import { deepEqual, equal } from "node:assert/strict";
import * as z from "zod";
import { readJson } from "../../../shared/model/json-text.ts";

const Shape = z.strictObject({
  a: z.number(),
  b: z.strictObject({ c: z.string() }).optional(),
  n: z.int().min(1).optional(),
  s: z.enum(["off", "warn"]).optional(),
  l: z.array(z.string()).min(1).optional(),
});

describe("reading JSON that a person wrote", () => {
  const faults: readonly (readonly [string, string, number, RegExp])[] = [
    ["broken", '{\n  "a": 1,\n  b: 2\n}', 3, /not JSON/],
    ["conflict markers", '{\n<<<<<<< HEAD\n  "a": 1\n=======\n  "a": 2\n>>>>>>> x\n}', 2, /conflict markers/],
    ["a key twice", '{\n  "a": 1,\n  "a": 2\n}', 3, /"a" stands twice/],
    ["a key twice, deep and on one line", '{"a": 1, "b": {"c": "x",\n"c" : "y"}}', 2, /"c" stands twice/],
    ["a wrong type, deep", '{\n  "a": 1,\n  "b": {\n    "c": 3\n  }\n}', 4, /^b\.c must be a text$/],
    ["a missing key", "{\n}", 1, /^a is missing$/],
    ["an unknown key", '{\n  "a": 1,\n  "z": 1\n}', 3, /^"z": unknown key$/],
    ["a number that is too small", '{ "a": 1,\n "n": 0 }', 2, /^n must be at least 1$/],
    ["a broken number", '{ "a": 1,\n "n": 1.5 }', 2, /^n must be a whole number$/],
    ["a word that is none of the list", '{ "a": 1,\n "s": "on" }', 2, /^s must be one of off, warn$/],
    ["an empty list", '{ "a": 1,\n "l": [] }', 2, /^l must not be empty$/],
    ["a list in place of the object", "[]", 1, /^it must be an object$/],
    ["nothing", "", 1, /not JSON/],
  ];
  for (const [name, text, line, message] of faults) {
    it(`names ${name} with its line`, () => {
      const read = readJson(text, Shape);
      equal(read.kind, "bad");
      if (read.kind !== "bad") return;
      equal(read.fault.line, line);
      equal(message.test(read.fault.message), true, read.fault.message);
    });
  }
  it("allows comments and a byte order mark", () => {
    deepEqual(readJson('\uFEFF{ // why\n "a": 1 /* one */ }', Shape), { kind: "ok", value: { a: 1 } });
  });
  it("does not take a text that looks like a key for one", () => {
    const value = { a: 1, b: { c: '"a": {"c" : 2}, \\' } };
    deepEqual(readJson(JSON.stringify(value), Shape), { kind: "ok", value });
  });
  it("counts keys behind escapes and blanks", () => {
    const text = '{ "a"\n\t : 1, "b":{"c" : "\\\\\\"\\\\"} }';
    deepEqual(readJson(text, Shape), { kind: "ok", value: { a: 1, b: { c: '\\"\\' } } });
    deepEqual(readJson('{"a": 1, "b": {"c": "\\\\", "c": "y"}}', Shape), {
      kind: "bad",
      fault: { line: 1, message: 'the key "c" stands twice' },
    });
  });
  it("refuses what is nested so deep that no file of a person's is, whatever closes it", () => {
    const fault = { line: 2, message: "it is nested deeper than 100 levels here" };
    for (const text of ["[".repeat(200_000), `${"[".repeat(101)}${"]".repeat(101)}`, '{"a":'.repeat(200_000)])
      deepEqual(readJson(`// "[[\n${text}`, Shape), { kind: "bad", fault });
    const brackets = { a: 1, b: { c: `\\"${"[{".repeat(200)}` } };
    deepEqual(readJson(`/* ${"[".repeat(200)} */${JSON.stringify(brackets)}`, Shape), { kind: "ok", value: brackets });
  });
  it("reads a text of many megabytes", () => {
    const value = { a: 1, b: { c: "x".repeat(40 * 1024 * 1024) } };
    equal(readJson(JSON.stringify(value), Shape).kind, "ok");
  });
  it("does not take a text about conflicts for a conflict", () => {
    deepEqual(readJson('{"a": 1, "b": {"c": "=======\\n<<<<<<<"}}', Shape).kind, "ok");
  });
});
