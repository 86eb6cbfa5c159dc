/** `1.6.0` against `1.10.2`, number by number; what follows a dash does not count. */
export function isLower(version: string, floor: string): boolean {
  const parts = (text: string): number[] => text.split(/[.-]/, 3).map((part) => Number.parseInt(part, 10) || 0);
  const [have, need] = [parts(version), parts(floor)];
  for (let at = 0; at < 3; at += 1) {
    const difference = (have[at] ?? 0) - (need[at] ?? 0);
    if (difference !== 0) return difference < 0;
  }
  return false;
}
