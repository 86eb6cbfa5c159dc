/** The shortest of a few tries, in milliseconds, or the first below `enough`: a busy machine only ever makes one longer. */
export async function quickest(enough: number, tryIt: () => Promise<number>): Promise<number> {
  let bestMs = Number.POSITIVE_INFINITY;
  for (let n = 0; n < 20 && bestMs >= enough; n += 1) bestMs = Math.min(bestMs, await tryIt());
  return bestMs;
}
