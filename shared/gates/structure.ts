import { below, extName, type RepoPath, repoPath } from "../base/paths.ts";
import type { Finding } from "../model/finding.ts";
import type { Gate, GateInput, SliceFacts } from "../ports/gate.ts";
import { type Audit, isSource, wantedRoles } from "./audit.ts";
import { finding, ran } from "./gate-finding.ts";

/**
 * Is the slice whole? Every file of its roles is there, the tests hold something, each source file can be imported by
 * its name; plus the rulebook's structure group.
 */
export function createStructureGate(audit: Audit): Gate {
  return {
    id: "structure",
    phase: "change",
    async run(input, signal) {
      const ruled = await audit.findings(input, "structure", signal);
      if (input.slice === undefined) return ran(ruled);
      const missing = await roleFindings(input, input.slice);
      const named = new Set(missing.map(({ path }) => path));
      return ran([
        ...missing,
        ...nameFindings(input, input.slice),
        ...ruled.filter(({ path }) => path === undefined || !named.has(path)),
      ]);
    },
  };
}

export const missingFileRule = "slice_file_missing";
export const emptyTestsRule = "tests_empty";

async function roleFindings(input: GateInput, slice: SliceFacts): Promise<Finding[]> {
  const found: Finding[] = [];
  for (const [role, name] of Object.entries(wantedRoles(slice))) {
    const path = repoPath(`${slice.dir}/${name}`);
    if (path === undefined) continue;
    const text = await textOf(input, path);
    if (text === undefined) {
      found.push(finding(missingFileRule, "FAIL", `${name} (${role}) is missing`, { path, remedy: `Write ${path}` }));
    } else if (role === "tests" && text.trim() === "") {
      found.push(
        finding(emptyTestsRule, "FAIL", `${name} holds no tests`, {
          path,
          remedy: "Write a test for each rule, error and example of spec.md",
        }),
      );
    }
  }
  return found;
}

async function textOf(input: GateInput, path: RepoPath): Promise<string | undefined> {
  const bytes = await input.read(path);
  return bytes === undefined ? undefined : new TextDecoder("utf-8").decode(bytes);
}

/** A name that the language cannot import is a file nobody uses. Files directly in the slice must carry a role or such a name. */
function nameFindings({ change }: GateInput, slice: SliceFacts): Finding[] {
  const name = new RegExp(`^(?:${slice.pack.fileNames})$`);
  return change.files.flatMap(({ path, newMode, status }) => {
    const inSlice = below(path, slice.dir);
    if (inSlice === undefined || newMode === "000000" || status === "modified" || !isSource(path, slice)) return [];
    const bad = inSlice
      .slice(0, inSlice.length - extName(inSlice).length)
      .split("/")
      .find((part) => !name.test(part));
    if (bad === undefined) return [];
    return [
      finding("file_name", "FAIL", `${inSlice} cannot be imported by its name`, {
        path,
        evidence: bad,
        remedy: `Give it a plain name, of the form ${slice.pack.fileNames}`,
      }),
    ];
  });
}
