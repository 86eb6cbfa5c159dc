/** What a command's process ends with, by name: product.md's table. */
export const exitCodes = {
  ok: 0,
  failed: 1,
  usage: 2,
  blocked: 3,
  decide: 4,
  precondition: 5,
  budget: 6,
  trust: 7,
  bug: 70,
  cancelled: 130,
} as const;
export type ExitName = keyof typeof exitCodes;
export type ExitCode = (typeof exitCodes)[ExitName];
