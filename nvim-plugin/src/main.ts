// The co-process that lua/orch/rpc.lua starts. It answers at once; everything heavy is loaded by the first command.
import process from "node:process";
import { openChannel } from "./channel.ts";
import type { Host } from "./host.ts";

const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
if (major < 22 || (major === 22 && minor < 19)) {
  process.stderr.write(`Node ${process.versions.node} is too old: Orch needs 22.19 or newer\n`);
  process.exit(9);
}

let host: Promise<Host> | undefined;
let stop = (): void => {};

async function load(): Promise<Host> {
  const { createHost } = await import("./host.ts");
  const made = createHost(channel, import.meta.url);
  stop = () => made.dispose();
  return made;
}

const self = { pid: process.pid, node: process.versions.node };
const channel = openChannel(
  async (message, signal) => {
    if (message.method === "hello") return self;
    host ??= load();
    return (await host).handle(message, signal);
  },
  () => stop(),
);
void channel.emit("ready", self); // it reports its own failure
