// No vowels and nothing that reads like another: ids are read aloud and typed, and must spell no word.
export const idLetters = "23456789bcdfghjkmnpqrstvwxz";

/**
 * `P-YYYYMMDD-HHMMSS-xxxx` in UTC for a prefix P, sorting by time to the 1.4 ms: two letters are the part of the
 * second (a list of runs is in the order of their starts, however fast they came), the two of `end` are random.
 */
export function datedId(prefix: string, at: number, end: string): string {
  const [day = "", time = ""] = new Date(at).toISOString().split("T");
  const part = Math.floor((((at % 1000) + 1000) % 1000) * (idLetters.length ** 2 / 1000));
  const letters = `${idLetters[Math.floor(part / idLetters.length)]}${idLetters[part % idLetters.length]}`;
  return `${prefix}-${day.replaceAll("-", "")}-${time.slice(0, 8).replaceAll(":", "")}-${letters}${end}`;
}
