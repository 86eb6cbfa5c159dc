/** {{feature}}: tests. */
import { describe } from "node:test";

describe("{{feature}}", { skip: "not implemented yet: orch do writes the tests of spec.md" });
