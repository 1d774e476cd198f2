// Pages of a list: `limit` and `cursor` of a request, `next` and `Link` of its answer. Pure. A cursor is opaque to callers:
// it names its list and where the next page begins, and one that was not made here for this list is refused.
import { AntiphonError } from "@antiphon/contracts";
import type { RunCursor } from "@antiphon/runtime";

export interface PageQuery {
  readonly limit?: string;
  readonly cursor?: string;
}

export interface Page<T> {
  readonly items: readonly T[];
  /** The cursor of the next page; null: this is the last one. */
  readonly next: string | null;
}

type ListName = "runs" | "sessions" | "dead-letters" | "evidence" | "approvals" | "events" | "records";

const MOST = 1_000;
const CURSOR_CHARS = 2_000;

/** @throws AntiphonError ANT_CONTRACT_INVALID */
export function limitOf({ limit }: PageQuery, fallback: number): number {
  if (limit === undefined) return fallback;
  if (!/^\d{1,4}$/.test(limit) || Number(limit) < 1 || Number(limit) > MOST)
    throw invalid("limit", `must be a number from 1 to ${MOST}`);
  return Number(limit);
}

export function cursorText(list: ListName, at: object | number): string {
  return Buffer.from(JSON.stringify([list, at]), "utf8").toString("base64url");
}

/** The content of a cursor of this list, unchecked; undefined: the first page. @throws AntiphonError ANT_CONTRACT_INVALID */
function cursorIn(list: ListName, { cursor }: PageQuery): unknown {
  if (cursor === undefined) return undefined;
  if (cursor === "" || cursor.length > CURSOR_CHARS || !/^[\w-]+$/.test(cursor)) throw foreign();
  try {
    const read: unknown = JSON.parse(Buffer.from(cursor, "base64url").toString("utf8"));
    if (Array.isArray(read) && read.length === 2 && read[0] === list) return read[1];
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
  }
  throw foreign();
}

/** The number after which a page begins; null: the first page. */
export function numberAfter(list: ListName, query: PageQuery): number | null {
  const at = cursorIn(list, query);
  if (at === undefined) return null;
  if (!isCount(at)) throw foreign();
  return at;
}

export function runCursorOf(query: PageQuery, partitions: number): RunCursor | null {
  const at = cursorIn("runs", query);
  if (at === undefined) return null;
  const { part, upTo, after, below } = (at ?? {}) as Record<string, unknown>;
  const isEach = (value: unknown): value is number[] =>
    Array.isArray(value) && value.length === partitions && value.every(isCount);
  if (!isEach(upTo)) throw foreign();
  if (part === "archive" && isEach(below)) return { part, upTo, below };
  const { at: time, runId } = (after ?? {}) as Record<string, unknown>;
  if (
    part !== "journal" ||
    !isCount(time) ||
    typeof runId !== "string" ||
    !/^run_[a-z0-9]{1,32}$/.test(runId)
  )
    throw foreign();
  return { part, upTo, after: { at: time, runId } };
}

/** A page of a list that is read as a whole. `orderOf` grows with each item. Without a limit it holds everything. */
export function pageOf<T>(
  list: ListName,
  items: readonly T[],
  orderOf: (item: T, index: number) => number,
  query: PageQuery,
): Page<T> {
  const limit = limitOf(query, items.length);
  const after = numberAfter(list, query) ?? -1;
  const rest = items
    .map((item, index) => ({ item, at: orderOf(item, index) }))
    .filter(({ at }) => at > after);
  const shown = rest.slice(0, limit);
  const last = shown.at(-1);
  const next = last === undefined || rest.length <= limit ? null : cursorText(list, last.at);
  return { items: shown.map(({ item }) => item), next };
}

/** `Link` of an answer whose list goes on (RFC 8288): the same request with the next cursor. */
export function linkOf(url: string, next: string): string {
  const [path = "", query = ""] = url.split("?");
  const params = new URLSearchParams(query);
  params.set("cursor", next);
  return `<${path}?${params.toString()}>; rel="next"`;
}

const isCount = (value: unknown): value is number =>
  typeof value === "number" && Number.isSafeInteger(value) && value >= 0;

const foreign = (): AntiphonError =>
  invalid("cursor", "must be the `next` of an earlier answer of this list");

export function invalid(path: string, message: string): AntiphonError {
  return new AntiphonError("ANT_CONTRACT_INVALID", `${path}: ${message}`, { data: { path } });
}
