import type { Contract } from "../model/contract.ts";
import type { Editor } from "../ports/editor.ts";
import type { WaveParts } from "./wave-parts.ts";

/** From so many contracts on, one vendor for all of them is a risk that is said. */
const spreadFrom = 3;

/** Never everything to one vendor, unless each contract names its worker. */
export function warnOneFamily(
  editor: Pick<Editor, "notify">,
  parts: Pick<WaveParts, "ladderOf" | "table">,
  contracts: readonly Contract[],
): void {
  const free = contracts.filter(({ worker }) => worker === "auto");
  if (contracts.length < spreadFrom || free.length === 0) return;
  const families = new Set(
    contracts.map((contract) => {
      const first = parts.ladderOf(contract).ladder[0]?.id;
      return first === undefined ? undefined : (parts.table.familyOf(first) ?? first.split("/", 1)[0]);
    }),
  );
  families.delete(undefined);
  if (families.size !== 1) return;
  const [family] = families;
  editor.notify({
    severity: "warning",
    text: `all ${contracts.length} contracts go to one family of models, ${family}`,
    hint: "Name a worker of another family in one of them",
  });
}
