// One builder at a time, also when several terminals use the same checkout. Runs on Node 18.
// A lock is a folder (mkdir is atomic) holding the owner's pid; a dead owner's lock is taken over.
import fs from "node:fs";
import path from "node:path";

const POLL_MS = 200;
const ORPHAN_MS = 10_000;

export async function withLock(folder, what, run) {
  fs.mkdirSync(path.dirname(folder), { recursive: true });
  let told = false;
  const since = Date.now();
  while (!take(folder)) {
    if (!told && Date.now() - since > 3000) {
      told = true;
      console.log(`Waiting for another ${what} to end (${folder}).`);
    }
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
  const free = () => fs.rmSync(folder, { recursive: true, force: true });
  process.once("exit", free);
  try {
    return await run();
  } finally {
    process.removeListener("exit", free);
    free();
  }
}

function take(folder) {
  try {
    fs.mkdirSync(folder);
    fs.writeFileSync(path.join(folder, "pid"), String(process.pid));
    return true;
  } catch (error) {
    if (error.code !== "EEXIST") throw error;
    if (abandoned(folder)) fs.rmSync(folder, { recursive: true, force: true });
    return false;
  }
}

function abandoned(folder) {
  try {
    const pid = Number(fs.readFileSync(path.join(folder, "pid"), "utf8"));
    if (pid > 0) return !alive(pid);
  } catch {
    // The owner has made the folder and not yet written its pid, or it has just freed it.
  }
  try {
    return Date.now() - fs.statSync(folder).mtimeMs > ORPHAN_MS;
  } catch {
    return false;
  }
}

function alive(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error.code === "EPERM";
  }
}
