// An agent's transcript as lines to read. Agents write events of many shapes, so the texts of an event are shown behind its
// kind, without ids, times and the like; a line that is no JSON is shown as it is. Pure.

/** Says what the event is. */
const KINDS = ["event", "type", "role"];
/** Of no use to a reader. */
const NOISE =
  /^(id|uuid|object|subtype|status|model|cwd|version|signature|usage|tools|permissionMode|timestamp|created)$|(_id|Id|_at|uuid|Uuid)$/;
const MAX_DEPTH = 12;
const MAX_CHARS = 600;

export function transcriptLines(text: string, format: "jsonl" | "json" | "txt"): string[] {
  if (format === "txt") return text.split("\n");
  if (format === "jsonl")
    return text
      .split("\n")
      .filter((line) => line.trim() !== "")
      .map((line) => eventLine(parsed(line) ?? line));
  const document = parsed(text);
  return document === undefined ? text.split("\n") : eventsIn(document).map(eventLine);
}

/** Undefined: it is no JSON. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** A document is a list of events, or has one; else it is the only event. */
function eventsIn(document: unknown): readonly unknown[] {
  if (Array.isArray(document)) return document;
  if (!isRecord(document)) return [document];
  const list = Object.values(document).find((value) => Array.isArray(value) && value.some(isRecord));
  return Array.isArray(list) ? list : [document];
}

function eventLine(event: unknown): string {
  if (!isRecord(event)) return typeof event === "string" ? event : JSON.stringify(event);
  const kind = KINDS.map((key) => event[key]).find((value) => typeof value === "string");
  const texts: string[] = [];
  collect(event, 0, texts);
  const said = texts.filter((one) => one.trim() !== "").map(shortened);
  return `${typeof kind === "string" ? kind : "event"}${said.length === 0 ? "" : `  ${said.join(" | ")}`}`;
}

function collect(value: unknown, depth: number, into: string[]): void {
  if (depth > MAX_DEPTH || typeof value !== "object" || value === null) return;
  for (const [key, one] of Object.entries(value)) {
    if (!Array.isArray(value) && (NOISE.test(key) || KINDS.includes(key))) continue;
    if (typeof one === "string") into.push(one);
    else collect(one, depth + 1, into);
  }
}

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

function shortened(text: string): string {
  return text.length <= MAX_CHARS ? text : `${text.slice(0, MAX_CHARS)}...`;
}
