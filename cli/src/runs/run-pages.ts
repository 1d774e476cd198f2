// Reads the list of runs page by page.
import type { RunPage } from "@antiphon/client";
import type { GatewayClient } from "../gateway/gateway-client.ts";
import { matches, type RunFilter, type RunLine } from "./run-lines.ts";

/** Runs of one request; also the gateway's own bound. */
const PAGE = 1_000;
/** A filter looks at this many runs, as many as may be open; only a list of all runs looks at more. */
const LOOKED_AT = 10_000;

export interface Listed {
  readonly runs: readonly RunLine[];
  /** There are more runs that match, or may be. */
  readonly goesOn: boolean;
}

/** The newest first, page by page. `first`: how many the first page should hold. */
export async function* runPages(
  gateway: Pick<GatewayClient, "get">,
  first = PAGE,
): AsyncGenerator<readonly RunLine[], void> {
  let limit = Math.min(first, PAGE);
  let cursor: string | undefined;
  do {
    const page: RunPage = await gateway.get("/runs", { limit, cursor });
    yield page.runs;
    cursor = page.next ?? undefined; // A gateway of an older version names no next page.
    limit = PAGE;
  } while (cursor !== undefined);
}

/** The newest runs that match, up to `limit` of them; Infinity: all. */
export async function listRuns(
  gateway: Pick<GatewayClient, "get">,
  filter: RunFilter,
  limit: number,
): Promise<Listed> {
  const isFiltered = Object.values(filter).some((one) => one !== null);
  const found: RunLine[] = [];
  let seen = 0;
  // Asks for one more than is shown, to learn whether there are more.
  for await (const runs of runPages(gateway, isFiltered ? PAGE : limit + 1)) {
    found.push(...runs.filter((run) => matches(run, filter)));
    seen += runs.length;
    const isEnough = found.length > limit || (seen >= LOOKED_AT && Number.isFinite(limit));
    if (isEnough) return { runs: found.slice(0, limit), goesOn: true };
  }
  return { runs: found, goesOn: false };
}
