/** Polls until `look` answers something other than undefined or false, or fails at the deadline with `what`. */
export async function eventually<T>(what: string, look: () => T | undefined | false, deadlineMs = 60_000): Promise<T> {
  const until = performance.now() + deadlineMs;
  for (;;) {
    const found = look();
    if (found !== undefined && found !== false) return found;
    if (performance.now() > until) throw new Error(`not within ${deadlineMs} ms: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}
