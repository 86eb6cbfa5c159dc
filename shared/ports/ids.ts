/** The only source of identity. `run` ids match RunId, sort by time, and are unique on the machine. */
export interface Ids {
  next(prefix: "run" | "question" | "control" | "trash" | "marker"): string;
}
