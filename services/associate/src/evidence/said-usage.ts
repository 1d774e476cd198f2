/**
 * Reads how many tokens and how much money the agent says it used, from its transcript or from a file of its own. Its pack names
 * the places. People see it beside what the egress gateway has counted, and nothing is decided by it. Pure.
 */
import type { PackUsage } from "@antiphon/contracts";

export interface SaidUsage {
  /** Null: it says nothing of them. */
  readonly tokens: number | null;
  /** The same. Most agents say 0 for a model whose price they do not know, so 0 says nothing either. */
  readonly usd: number | null;
}

export interface UsageText {
  readonly text: string;
  /** jsonl: one event a line. */
  readonly format: "jsonl" | "json";
  /** False: its middle is not kept. */
  readonly isWhole: boolean;
}

/** Null: it has said nothing. */
export function saidUsage(usage: PackUsage, { text, format, isWhole }: UsageText): SaidUsage | null {
  if (!isWhole && (usage.adds === "sum" || format === "json")) return null;
  const events = (format === "jsonl" ? text.split("\n").map(valueIn) : eventsOf(valueIn(text), usage.list))
    .filter(isEvent)
    .filter(({ type, event }) => usage.event === undefined || type === usage.event || event === usage.event);
  const counted = usage.adds === "last" ? events.slice(-1) : events;
  const of = (paths: readonly string[]): number | null => {
    const found = counted
      .flatMap((event) => paths.map((path) => numberAt(event, path)))
      .filter((n) => n !== null);
    return found.length === 0 ? null : found.reduce((sum, n) => sum + n, 0);
  };
  const usd = of(usage.cost_usd === undefined ? [] : [usage.cost_usd]);
  const said = { tokens: of(usage.tokens ?? []), usd: usd === 0 ? null : usd };
  return said.tokens === null && said.usd === null ? null : said;
}

type Event = Readonly<Record<string, unknown>>;

const isEvent = (value: unknown): value is Event =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** Null for a text that is no JSON: not every line of a transcript is an event, and a file may be cut off. */
function valueIn(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

function eventsOf(document: unknown, list: string | undefined): readonly unknown[] {
  if (list === undefined) return [document];
  const found = valueAt(document, list);
  return Array.isArray(found) ? found : [];
}

function valueAt(from: unknown, path: string): unknown {
  let value = from;
  for (const key of path.split(".")) value = isEvent(value) && Object.hasOwn(value, key) ? value[key] : null;
  return value;
}

function numberAt(event: Event, path: string): number | null {
  const value = valueAt(event, path);
  return typeof value === "number" && Number.isFinite(value) && value >= 0 ? value : null;
}
