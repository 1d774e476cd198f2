// Which runs are on a page of the list. Pure.

/** Where a run began. */
export interface RunPlace {
  readonly runId: string;
  readonly seq: number;
  /** Milliseconds since 1970. */
  readonly at: number;
}

/**
 * Where a list of runs goes on. `upTo` is the end of each partition when the list was begun: a run is in the first part, by
 * the time it began, unless it was archived by then; those follow, the last archived first. So a run that begins or is
 * archived meanwhile neither moves another one nor is listed twice.
 */
export type RunCursor =
  | { readonly part: "journal"; readonly upTo: readonly number[]; readonly after: Place }
  | { readonly part: "archive"; readonly upTo: readonly number[]; readonly below: readonly number[] };

type Place = Pick<RunPlace, "at" | "runId">;

export interface RunPage {
  readonly runIds: readonly string[];
  /** Null: this is the last page. */
  readonly next: RunCursor | null;
}

/** The newest first. Runs that began in the same millisecond are ordered by their ids. */
export function newestFirst(a: Place, b: Place): number {
  if (a.at !== b.at) return b.at - a.at;
  return a.runId < b.runId ? 1 : a.runId > b.runId ? -1 : 0;
}

/** The next `limit` places after `after`, and whether there are more. */
export function pageOfPlaces<P extends Place>(
  places: readonly P[],
  after: Place | null,
  limit: number,
): { page: P[]; isLast: boolean } {
  const rest = after === null ? places : places.filter((place) => newestFirst(place, after) > 0);
  const sorted = [...rest].sort(newestFirst);
  return { page: sorted.slice(0, limit), isLast: sorted.length <= limit };
}
