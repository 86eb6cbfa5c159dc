// When a failure does not reach the test program: texts of code, looked at by the reader of outlines.

/** What a handler does that does not let a failure pass. */
export const rethrows = /\braise\b|\bthrow\b|\bassert|\bexpect\(|\bfail\(|\.Fatal|\.Error|panic!|return Err|\bdone\(/;

/** A handler that keeps the failure for later. */
export const gathers = /\.(?:append|push|put|add|set_exception)\(/;

/** What test programs and languages call without being told to. */
export const calledByItself =
  /^(?:(?:async_?)?(?:set_?up|tear_?down)(?:_?\w+)?|run_?test|load_tests|pytest_\w+|main|id|__\w+__)$/i;

/** Conditions about where a test runs, not about what the code answered. */
export const ofTheMachine =
  /\bsys\.(?:platform|version_info|maxsize)\b|\bos\.name\b|\bplatform\.|\bprocess\.(?:platform|versions?|arch)\b|\bhasattr\(|\bshutil\.which\b|\btypeof\b/;

/** Does code call a function that one of the functions around it is given? Their parameters stand in `heads`. */
export function callsWhatItIsGiven(code: string, heads: string): boolean {
  return [...code.matchAll(/(?<![\w$.])([\w$]+)\(/g)].some(([, name = ""]) =>
    new RegExp(`[(,]\\s*${name.replaceAll("$", "\\$")}\\s*[,:)=]`).test(heads),
  );
}

/** Is a condition about a case: a name of a loop or a parameter in the code before it? Then it tells cases apart. */
export function asksWhatIsGiven(condition: string, before: string): boolean {
  const heads = [
    ...before.matchAll(/\bfor\b\s*\(?([^:{;]*?)\b(?:in|of)\b/g),
    ...before.matchAll(/\(([^()]*)\)\s*(?::[^=]{1,40})?=>/g),
    ...before.matchAll(/(?<![\w$])([\w$]+)\s*=>/g),
    ...before.matchAll(/\b(?:def|function)\s+\w*\(([^)]*)\)/g),
  ];
  const given = new Set(heads.flatMap(([, head = ""]) => head.match(/[A-Za-z_$][\w$]*/g) ?? []));
  given.delete("self");
  return (condition.match(/(?<![\w$.])[A-Za-z_$][\w$]*/g) ?? []).some((name) => given.has(name));
}
