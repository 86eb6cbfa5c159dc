import { describeClient } from "../support/worker-cases.ts";

// pi and codex run with every `npm test`: test/contract/worker-cli.contract.test.ts.
describeClient("claude");
describeClient("gemini");
describeClient("copilot");
describeClient("opencode");
describeClient("cline");
