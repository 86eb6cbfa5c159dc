import { baseName } from "../base/paths.ts";

/** A check's command that says at its end, with a mark of this one run, that it got there. */
export interface Marked {
  readonly argv: readonly [string, ...string[]];
  readonly stdin?: string;
}

/**
 * Code in an argument (`python -c`, `node -e`) ends well for whoever looks at its exit code, also where the code under
 * test ended the program before the first assertion. So it is run with a mark behind its last statement. Nothing of this
 * is a wall: code in the same process can look for the mark, but no plain `exit(0)`, however spelled, writes it.
 *
 * Undefined where the end cannot be known: another program, or code that ends the process itself.
 */
export function withMark(argv: readonly string[], mark: string): Marked | undefined {
  return pythonMarked(argv, mark) ?? nodeMarked(argv, mark);
}

/** What the program said, without the mark; whether the mark was there. */
export function withoutMark(output: string, mark: string): { readonly output: string; readonly isMarked: boolean } {
  const [first = "", ...rest] = output.split(mark);
  return { output: first + rest.map((part) => part.replace(/^\r?\n/, "")).join(""), isMarked: rest.length > 0 };
}

/** Starters that hand on the standard input and the arguments as they are. */
const starters = /^(?:uv|poetry|pdm|hatch|rye|pipenv|env|nice|run|--|\w+=.*)$/;

/** Where the interpreter stands, when only such starters are before it. */
function programAt(argv: readonly string[], program: RegExp): number {
  const at = argv.findIndex((word) => program.test(baseName(word).toLowerCase()));
  return argv.slice(0, Math.max(0, at)).every((word) => starters.test(baseName(word))) ? at : -1;
}

function pythonMarked(argv: readonly string[], mark: string): Marked | undefined {
  const program = programAt(argv, /^(?:python|py|pypy)[\d.]*(?:\.exe)?$/);
  if (program === -1) return undefined;
  for (let at = program + 1; at < argv.length; at += 1) {
    const word = argv[at] ?? "";
    const [, flags = "", glued = ""] = /^-([bBdEIOPqRsSuv]*)c([\s\S]*)$/.exec(word) ?? [];
    if (word.startsWith("-") && word === `-${flags}c${glued}`) {
      const [code, rest] = glued === "" ? [argv[at + 1], argv.slice(at + 2)] : [glued, argv.slice(at + 1)];
      if (code === undefined || /\b_exit\b|\bexec[lv]\w*\(|\babort\(/.test(code)) return undefined;
      const [first = "", ...before] = argv.slice(0, at);
      return { argv: [first, ...before, `-${flags}c`, pythonEnd, code, ...rest], stdin: mark };
    }
    if (/^-[WX]$/.test(word)) at += 1;
    else if (!/^-(?:[bBdEIOPqRsSuv]+|[WX].+|\d[\d.]*)$/.test(word)) return undefined;
  }
  return undefined;
}

/**
 * Runs the code as `python -c` does: in `__main__`, with its arguments, its tracebacks and its exit code. The mark comes
 * by the standard input, so that it stands in no argument and no environment. An exit with success counts as the end where
 * the code itself asks for it (also by the interpreter's own `exit()` and `quit()`), or where its last statement does and
 * asserts nothing after it (`sys.exit(main())`, `unittest.main()`).
 */
const pythonEnd = `def _run(sys, os):
    code, mark, write, out = sys.argv.pop(1), b"", os.write, os.dup(2)
    while True:
        part = os.read(0, 256)
        if not part:
            break
        mark += part
    mark += b"\\n"
    space = sys.modules["__main__"].__dict__
    del space["_run"]
    isLast = False
    last = None
    try:
        if code[:1].isspace() and sys.version_info >= (3, 14):
            import textwrap
            code = textwrap.dedent(code)
        tree = compile(code, "<string>", "exec", 0x400, True)
        future = 0
        if "__future__" in code:
            import __future__
            for name in __future__.all_feature_names:
                future |= getattr(__future__, name).compiler_flag
        last = tree.body.pop() if tree.body else None
        first = compile(tree, "<string>", "exec", 0, True)
        final = None
        if last is not None:
            tree.body.append(last)
            del tree.body[:-1]
            final = compile(tree, "<string>", "exec", first.co_flags & future, True)
        exec(first, space)
        isLast = True
        if final is not None:
            exec(final, space)
    except SystemExit as end:
        quitter = getattr(sys.modules.get("_sitebuiltins"), "Quitter", None)
        quit = None if quitter is None else quitter.__call__.__code__
        isOwn = False
        places = []
        at = end.__traceback__.tb_next
        while at is not None:
            used = at.tb_frame.f_code
            if used is not quit:
                isOwn = at.tb_frame.f_globals is space and used.co_filename == "<string>"
            if used is not quit and isOwn:
                place = (at.tb_lineno, 0)
                if hasattr(used, "co_positions"):
                    line, _, column, _ = list(used.co_positions())[at.tb_lasti // 2]
                    place = (line or at.tb_lineno, column or 0)
                places.append(place)
            at = at.tb_next
        if not isOwn and isLast:
            import ast

            def goesOn(one, place):
                if getattr(one, "end_lineno", None) is None:
                    return True
                if isinstance(one, ast.Assert):
                    return (one.end_lineno, one.end_col_offset) > place
                isAround = (one.lineno, one.col_offset) <= place < (one.end_lineno, one.end_col_offset)
                return isAround and any(isinstance(part, ast.Assert) for part in ast.walk(one))

            kinds = (ast.Assert, ast.For, ast.AsyncFor, ast.While)
            parts = [one for one in ast.walk(last) if isinstance(one, kinds)]
            asserts = any(isinstance(one, ast.Assert) for one in parts)
            isOwn = not asserts or (places != [] and not any(goesOn(one, place) for one in parts for place in places))
        if isOwn:
            write(out, mark)
        raise
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        if sys.version_info >= (3, 13):
            import linecache
            linecache.cache["<string>"] = (len(code), None, code.splitlines(True), "<string>")
        error.__traceback__ = error.__traceback__.tb_next
        sys.excepthook(type(error), error, error.__traceback__)
        raise SystemExit(1)
    write(out, mark)


_run(__import__("sys"), __import__("os"))
`;

function nodeMarked(argv: readonly string[], mark: string): Marked | undefined {
  const program = programAt(argv, /^node(?:\.exe)?$/);
  if (program === -1 || argv.some((word) => /^--?p(?:rint|e)?(?:=|$)|^--test/.test(word))) return undefined;
  const at = evalAt(argv, program + 1);
  if (at === undefined) return undefined;
  const [flag = "", ...glued] = argv[at]?.split("=") ?? [];
  const code = glued.length > 0 ? glued.join("=") : argv[at + 1];
  const rest = argv.slice(at + (glued.length > 0 ? 1 : 2));
  // Without an assertion the exit code is all that the check asks for, and whoever gives it may end the program.
  if (code === undefined || !/\bassert|\bthrow\b|\bexpect\b/.test(code)) return undefined;
  if (/\bexit\b|\breallyExit\b|\babort\(|\bexitCode\b|\bprocess\.kill\b/.test(code)) return undefined;
  const [first = "", ...before] = argv.slice(0, at);
  return { argv: [first, ...before, flag, `${code}\n${nodeEnd(mark)}`, ...rest] };
}

/** Options of node whose value may be a word of its own. */
const nodeValue =
  /^(?:-r|-C|--(?:require|import|conditions|loader|experimental-loader|input-type|experimental-default-type|env-file(?:-if-exists)?|disable-warning|unhandled-rejections|dns-result-order|stack-trace-limit|title|icu-data-dir))$/;

/** Where node's own `-e` stands: behind the name of a script, words are the script's. */
function evalAt(argv: readonly string[], from: number): number | undefined {
  for (let at = from; at < argv.length; at += 1) {
    const word = argv[at] ?? "";
    if (/^(?:-e|--eval)(?:=|$)/.test(word)) return at;
    if (nodeValue.test(word)) at += 1;
    else if (!/^-[^-]|^--./.test(word)) return undefined;
  }
  return undefined;
}

/**
 * The end of the script and of all that it waits for: an exit by hand does not come by here. `_rawDebug` writes past
 * `process.stderr.write`, which a check replaces to catch what is said.
 */
function nodeEnd(mark: string): string {
  return `;process.once("beforeExit", () => process._rawDebug(${JSON.stringify(mark)}));`;
}
