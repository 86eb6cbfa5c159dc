import { equal } from "node:assert/strict";
import { ContractId, DomainName, FeatureName, RunId } from "../../../shared/model/names.ts";

const rows = [
  [FeatureName, "Invoice", true],
  [FeatureName, "Invoice_2", true],
  [FeatureName, "2Invoice", false],
  [FeatureName, "In-voice", false],
  [FeatureName, "CON", false],
  [FeatureName, "Lpt1", false],
  [FeatureName, "Über", false],
  [FeatureName, "a".repeat(65), false],
  [DomainName, "billing-eu", true],
  [DomainName, "modify", false],
  [DomainName, "Modify", false],
  [DomainName, "aux", false],
  [DomainName, "a/b", false],
  [RunId, "r-20260131-101500-ab12", true],
  [RunId, "r-../../x", false],
  [ContractId, "Invoice", true],
  [ContractId, "r-1", false],
  [ContractId, "../x", false],
  [ContractId, ".x", false],
] as const;

describe("names", () => {
  for (const [schema, name, good] of rows)
    it(`${name} is ${good ? "a name" : "refused"}`, () => equal(schema.safeParse(name).success, good));
});
