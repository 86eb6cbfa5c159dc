/**
 * JSON lines, framed by LF alone. Node's readline also splits on U+2028 and U+2029, which JSON strings may hold, so it
 * must not read these files. A last piece without LF is a torn tail: kept back by readers, cut by the writer.
 */
export interface JsonlSplit {
  readonly lines: readonly string[];
  /** What follows the last LF: a line still being written, or a torn one. */
  readonly tail: string;
}

export function splitJsonl(text: string): JsonlSplit {
  const parts = text.split("\n");
  const tail = parts.pop() ?? "";
  return { lines: parts.filter((line) => line !== ""), tail };
}

/** One value as one line. JSON escapes line feeds, so the value can never break the framing. */
export function toJsonl(value: unknown): string {
  return `${JSON.stringify(value)}\n`;
}

/** Collects chunks of bytes and returns each complete line once. Lines longer than `maxBytes` are dropped and counted. */
export class LineFramer {
  readonly #maxBytes: number;
  readonly #decoder = new TextDecoder("utf-8");
  #rest = "";
  #skipping = false;
  dropped = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  push(chunk: Uint8Array): string[] {
    this.#rest += this.#decoder.decode(chunk, { stream: true });
    const out: string[] = [];
    let at = this.#rest.indexOf("\n");
    while (at !== -1) {
      const line = this.#rest.slice(0, at);
      this.#rest = this.#rest.slice(at + 1);
      if (this.#skipping) this.#skipping = false;
      else if (line.length > this.#maxBytes) this.dropped += 1;
      else out.push(line.endsWith("\r") ? line.slice(0, -1) : line);
      at = this.#rest.indexOf("\n");
    }
    if (this.#rest.length > this.#maxBytes) {
      if (!this.#skipping) this.dropped += 1;
      this.#skipping = true;
      this.#rest = "";
    }
    return out;
  }

  /** The unfinished last line, if any. */
  end(): string {
    const rest = this.#skipping ? "" : this.#rest + this.#decoder.decode();
    this.#rest = "";
    return rest;
  }
}
