/** Numbers that a seed brings back: a failure of a random test names its seed, and that is enough to see it again. */
export interface SeededRandom {
  readonly seed: number;
  /** 0 <= number < 1 */
  next(): number;
  /** A whole number, both ends included. */
  int(from: number, to: number): number;
}

/** mulberry32 */
export function seededRandom(seed: number): SeededRandom {
  let state = seed >>> 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
  return { seed, next, int: (from, to) => from + Math.floor(next() * (to - from + 1)) };
}

/** From the environment, else a new one: the seed is printed either way. */
export function seedOf(name: string): number {
  const given = process.env[name];
  return given === undefined || given === "" ? Math.floor(Math.random() * 2 ** 31) : Number(given);
}

export function countOf(name: string, otherwise: number): number {
  const given = process.env[name];
  return given === undefined || given === "" ? otherwise : Number(given);
}
