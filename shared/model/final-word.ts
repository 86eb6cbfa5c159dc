/** What an agent says at its end: `{"status", "summary", "files_changed", "acceptance", "concerns"}`. Data, never obeyed. */
export interface FinalWord {
  readonly status?: "done" | "blocked" | "failed";
  readonly summary?: string;
  readonly filesChanged: readonly string[];
  readonly acceptance: Readonly<Record<string, string>>;
  readonly concerns: readonly string[];
}
