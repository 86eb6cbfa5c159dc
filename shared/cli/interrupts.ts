/** Starts listening for Ctrl-C; returns how to stop. */
export type OnInterrupt = (listener: () => void) => () => void;

/**
 * Ctrl-C without gaps: from the first listener on the process is never left with none, since a Ctrl-C would then end it
 * alone and its run would go on behind the person's back. What comes between two listeners is told to the next one.
 */
export function withoutGaps(onInterrupt: OnInterrupt): OnInterrupt {
  const listeners = new Set<() => void>();
  let listening = false;
  let untold = 0;
  const told = (): void => {
    if (listeners.size === 0) untold += 1;
    for (const listener of listeners) listener();
  };
  return (listener) => {
    if (!listening) onInterrupt(told);
    listening = true;
    const own = (): void => listener();
    listeners.add(own);
    for (; untold > 0; untold -= 1) own();
    return () => void listeners.delete(own);
  };
}
