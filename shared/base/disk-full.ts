/** A write that failed for want of space, or of quota; as the system says it, whoever threw it. */
export function isDiskFull(error: unknown): boolean {
  return (
    typeof error === "object" &&
    error !== null &&
    "code" in error &&
    (error.code === "ENOSPC" || error.code === "EDQUOT")
  );
}

/** What a disk that was too full for a write may still have free: the part that was written is gone again. */
export const nearlyFullBytes = 1024 * 1024;
