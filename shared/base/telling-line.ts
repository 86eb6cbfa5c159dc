/**
 * The line of a program's output that says most, at most 200 characters. Of a push the reason of the refused ref, with
 * what the other side said about it: git's own "failed to push some refs" says nothing.
 */
export function tellingLine(output: string): string {
  const lines = output.split("\n").map((line) => line.trim());
  const refused = lines
    .map((line) => /\[(?:remote )?rejected\] .*$/.exec(line)?.[0])
    .find((line) => line !== undefined);
  const said = lines.filter((line) => line.startsWith("remote:")).map((line) => line.slice("remote:".length).trim());
  const first = said.find((line) => line !== "");
  if (refused !== undefined) return cut(first === undefined ? refused : `${refused}: ${first}`);
  const telling = lines.find((line) => /rejected|error|fatal|denied|declined|stopped/i.test(line));
  const line = telling ?? lines.find((one) => one !== "") ?? "no reason given";
  return cut(line.replace(/^remote:\s*/, ""));
}

const cut = (line: string): string => line.slice(0, 200);
