import { describeClient } from "../support/worker-cases.ts";

describeClient("pi");
describeClient("codex");
