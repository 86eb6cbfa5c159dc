/**
 * How repository content, model output and tool output stand in a prompt: as data, labelled, in bounds that the data
 * cannot end and that nobody who wrote the data could guess.
 */

/** A code fence longer than any run of backticks in the text, so that the text cannot close it. For people's files too. */
export function fenced(text: string, info = ""): string {
  let longest = 2;
  for (const run of text.match(/`{3,}/g) ?? []) longest = Math.max(longest, run.length);
  const fence = "`".repeat(longest + 1);
  return `${fence}${info}\n${text}\n${fence}`;
}

/**
 * `text` as a data block of the prompt. `nonce` is fresh for each prompt; should the text hold it all the same, the
 * bound is lengthened until it does not. Tags that look like a chat's own markup are made harmless (`chatSafe`).
 */
export function dataBlock(label: string, text: string, nonce: string): string {
  const safe = chatSafe(text);
  let id = nonce;
  while (safe.includes(id)) id = `${id}x`;
  const body = safe.endsWith("\n") || safe === "" ? safe : `${safe}\n`;
  return `<data-${id} label="${labelText(label)}">\n${body}</data-${id}>`;
}

/** Markup of chat templates and of role tags: with a space after `<` or `[` it is plain text to every model. */
export function chatSafe(text: string): string {
  return text
    .replace(/<(?=\|)/g, "< ")
    .replace(/<(?=\/?(?:role|system|user|assistant|developer|tool|tool_calls?|function_calls|invoke|data-)\b)/gi, "< ")
    .replace(/<(?=\/?s>)/g, "< ")
    .replace(/\[(?=\/?INST\])/g, "[ ");
}

function labelText(label: string): string {
  return label.replace(/[^\w ./()@+,:-]/g, "_").slice(0, 200);
}
