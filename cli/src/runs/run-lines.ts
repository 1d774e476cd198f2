// The list of runs: which of them to show, and their rows. Pure.
import { statusWords } from "./status-words.ts";

export interface RunLine {
  readonly runId: string;
  readonly status: string;
  readonly paused: boolean;
  readonly goal: string;
  readonly repo: string;
  readonly startedAt: string | null;
  readonly endedAt: string | null;
  readonly code: string | null;
}

export interface RunFilter {
  readonly status: string | null;
  /** An absolute path. */
  readonly repo: string | null;
  /** Milliseconds since 1970. */
  readonly since: number | null;
}

/** `open` stands for every status of a run that has not ended. */
export const STATUSES = [
  "open",
  "queued",
  "running",
  "waiting_input",
  "succeeded",
  "failed",
  "canceled",
  "corrupt",
] as const;

const GOAL_CHARS = 60;

export function matches(run: RunLine, { status, repo, since }: RunFilter): boolean {
  if (status === "open" && (run.endedAt !== null || run.status === "corrupt")) return false;
  if (status !== null && status !== "open" && run.status !== status) return false;
  if (repo !== null && run.repo !== repo) return false;
  return since === null || (run.startedAt !== null && Date.parse(run.startedAt) >= since);
}

/** The first row is the header. `now`: milliseconds since 1970. */
export function runRows(runs: readonly RunLine[], now: number): string[][] {
  const rows = runs.map((run) => [
    run.runId,
    run.startedAt === null ? "?" : age(now - Date.parse(run.startedAt)),
    state(run),
    run.repo.split("/").at(-1) ?? "",
    run.goal.replaceAll(/\s+/g, " ").slice(0, GOAL_CHARS),
  ]);
  return [["RUN", "AGE", "STATUS", "REPOSITORY", "INTENT"], ...rows];
}

/** Of the columns, on a narrow terminal: 60 columns hold a row. Ids and ages are never cut. */
export const LEAST_WIDTHS = [null, null, "succeeded".length, 6, 6] as const;

function state({ status, paused, code }: RunLine): string {
  const words = paused ? `${statusWords(status)}, paused` : statusWords(status);
  return code === null ? words : `${words} (${code})`;
}

const UNITS = [
  ["d", 86_400_000],
  ["h", 3_600_000],
  ["m", 60_000],
] as const;

/** The two largest units: 3d4h, 5m10s, 12s. */
export function age(ms: number): string {
  let rest = Math.max(0, ms); // The server's clock may be ahead of ours.
  const parts: string[] = [];
  for (const [unit, size] of [...UNITS, ["s", 1_000] as const]) {
    const count = Math.floor(rest / size);
    rest -= count * size;
    if (count > 0 || (unit === "s" && parts.length === 0)) parts.push(`${count}${unit}`);
    else if (parts.length > 0) break;
    if (parts.length === 2) break;
  }
  return parts.join("");
}

const SPAN = /^(\d{1,6})(s|m|h|d|w)$/;
const SECONDS: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3_600, d: 86_400, w: 604_800 };

/** "2h" or "7d" as milliseconds; null: it is no span of time. */
export function spanMs(text: string): number | null {
  const [, count, unit = ""] = SPAN.exec(text) ?? [];
  return count === undefined ? null : Number(count) * (SECONDS[unit] ?? 0) * 1_000;
}

/** A span before now, or a date; null: neither. */
export function sinceTime(text: string, now: number): number | null {
  const span = spanMs(text);
  if (span !== null) return now - span;
  const at = /^\d{4}-\d{2}-\d{2}/.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(at) ? null : at;
}
