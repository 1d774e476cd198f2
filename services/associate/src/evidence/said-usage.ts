/**
 * Reads from a transcript how many tokens and how much money the agent says it used. Its pack names the places.
 * People see it beside what the egress gateway has counted, and nothing is decided by it. Pure.
 */
import type { PackUsage } from "@antiphon/contracts";

export const USAGE_FILE = "usage.json";

export interface SaidUsage {
  /** Null: it says nothing of them. */
  readonly tokens: number | null;
  readonly usd: number | null;
}

/** Null: it has said nothing. @param isWhole false: the middle of the transcript is not kept */
export function saidUsage(usage: PackUsage, transcript: string, isWhole: boolean): SaidUsage | null {
  if (usage.adds === "sum" && !isWhole) return null;
  const events = transcript
    .split("\n")
    .map(objectIn)
    .filter((event) => event !== null)
    .filter(({ type, event }) => type === usage.event || event === usage.event);
  const counted = usage.adds === "last" ? events.slice(-1) : events;
  const of = (paths: readonly string[]): number | null => {
    const found = counted
      .flatMap((event) => paths.map((path) => numberAt(event, path)))
      .filter((n) => n !== null);
    return found.length === 0 ? null : found.reduce((sum, n) => sum + n, 0);
  };
  const said = {
    tokens: of(usage.tokens ?? []),
    usd: of(usage.cost_usd === undefined ? [] : [usage.cost_usd]),
  };
  return said.tokens === null && said.usd === null ? null : said;
}

type Event = Readonly<Record<string, unknown>>;

const isEvent = (value: unknown): value is Event =>
  typeof value === "object" && value !== null && !Array.isArray(value);

function objectIn(line: string): Event | null {
  try {
    const value: unknown = JSON.parse(line);
    return isEvent(value) ? value : null;
  } catch {
    return null; // Not every line of a transcript is an event.
  }
}

function numberAt(event: Event, path: string): number | null {
  let value: unknown = event;
  for (const key of path.split(".")) value = isEvent(value) && Object.hasOwn(value, key) ? value[key] : null;
  return typeof value === "number" && Number.isFinite(value) && value >= 0 ? value : null;
}
