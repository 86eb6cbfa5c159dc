import { type CompletionFacts, createCompletionFacts } from "../../adapters/completion-facts.ts";
import { findMachine, type MachineFacts } from "../../adapters/machine.ts";
import { absPath, typedPath } from "../../base/paths.ts";
import { runsDir, stateRunsDir } from "../../model/run-place.ts";
import type { Completes } from "../commands.ts";
import { familiarModels } from "../familiar-models.ts";
import { emptyWord } from "./scripts.ts";
import { type Candidate, folderIn, wantedAt } from "./words.ts";

/** `path`: the shell knows files itself. */
export type Offer =
  | { readonly kind: "words"; readonly words: readonly Candidate[] }
  | { readonly kind: "path"; readonly prefix: string };

export interface OfferPlace extends MachineFacts {
  readonly cwd: string;
}

/** What the shell may put at the last of `words`. Nothing is started and no repository is asked; see completion-facts. */
export async function offerFor(given: readonly string[], place: OfferPlace): Promise<Offer> {
  const words = given.map((word) => (word === emptyWord ? "" : word));
  const wanted = wantedAt(words);
  if (wanted.kind === "nothing") return { kind: "words", words: [] };
  if (wanted.kind === "names" && wanted.of === "path") return { kind: "path", prefix: wanted.prefix };
  const now = (words.at(-1) ?? "").slice(wanted.prefix.length);
  const all = wanted.kind === "these" ? wanted.values : await namesOf(wanted.of, wanted.command, factsAt(words, place));
  const fits = all.filter(({ value }) => value.startsWith(now));
  const near = fits.length > 0 ? fits : all.filter(({ value }) => lastPart(value, now));
  return { kind: "words", words: near.map(({ value, summary }) => ({ value: `${wanted.prefix}${value}`, summary })) };
}

/** `Inv` stands for `Billing/Invoice`, `laguna` for `openrouter/poolside/laguna-...`: any part may be typed. */
function lastPart(value: string, now: string): boolean {
  return (
    now !== "" &&
    value
      .toLowerCase()
      .split("/")
      .some((part) => part.startsWith(now.toLowerCase()))
  );
}

function factsAt(words: readonly string[], place: OfferPlace): CompletionFacts {
  const { configDir, cacheDir, stateDir } = findMachine(place);
  const folder = folderIn(words);
  const here = absPath(place.cwd);
  const cwd = folder === undefined ? here : typedPath(here, folder);
  return createCompletionFacts({
    cwd,
    configDir,
    cacheDir,
    runsDirs: (root) => [runsDir(absPath(root)), stateRunsDir(stateDir, absPath(root))],
  });
}

async function namesOf(of: Completes, command: string, facts: CompletionFacts): Promise<readonly Candidate[]> {
  const plain = (values: readonly string[], summary: string): readonly Candidate[] =>
    values.map((value) => ({ value, summary }));
  switch (of) {
    case "feature": {
      const { targets, domains } = facts.features();
      // A new feature is in none of the registered places; its domain may be.
      if (command === "new")
        return plain(
          domains.map((domain) => `${domain}/`),
          "domain",
        );
      return plain(targets, "feature");
    }
    case "branch":
      return plain(facts.branches(), "branch");
    case "run":
      return facts.runs().map(({ run, command: of }) => ({ value: run, summary: of }));
    case "attempt":
      return plain(facts.attempts(), "kept change");
    case "trash":
      return plain(facts.trash(), "can be restored");
    case "decision":
      return facts.decisions().map(({ id, title }) => ({ value: id, summary: title }));
    case "contract":
      return plain(facts.contracts(), "contract");
    case "contract-file":
      return plain(facts.contractFiles(), "contract");
    case "model":
      return [...new Set([...facts.models(), ...familiarModels, ...(command === "model" ? ["auto"] : [])])].map(
        (value) => ({ value, summary: "model" }),
      );
    case "worker": {
      const { workerEntries } = await import("../worker-entries.ts");
      return plain([...new Set([...Object.keys(workerEntries), ...facts.workers()])], "worker");
    }
    case "app":
      return plain(facts.apps(), "app");
    case "setting": {
      const { knownSettings } = await import("../../model/config-keys.ts");
      return knownSettings()
        .filter(({ key }) => !key.includes("<name>"))
        .map(({ key, takes }) => ({ value: key, summary: takes }));
    }
    case "path":
      return [];
  }
}
