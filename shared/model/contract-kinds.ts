/** What a contract is about: feeds `route` and the ladder. */
export const contractKinds = [
  "mechanical",
  "analysis",
  "feature",
  "tests",
  "refactor",
  "ui",
  "critical",
  "second_opinion",
] as const;
export type ContractKind = (typeof contractKinds)[number];
