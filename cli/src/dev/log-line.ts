// Shortens a service's log line (pino JSON, or nats-server's own format) for reading. Pure.

export interface CompactLine {
  readonly level: "trace" | "debug" | "info" | "warn" | "error" | "fatal";
  readonly text: string;
}

const LEVELS: Record<number, CompactLine["level"]> = {
  10: "trace",
  20: "debug",
  30: "info",
  40: "warn",
  50: "error",
  60: "fatal",
};
const NOISE = new Set(["level", "time", "pid", "hostname", "name", "msg", "service", "role", "v", "stack"]);
const NATS_LEVELS: Record<string, CompactLine["level"]> = {
  INF: "info",
  WRN: "warn",
  ERR: "error",
  FTL: "fatal",
  DBG: "debug",
  TRC: "trace",
};

export function compactLine(line: string): CompactLine {
  if (line.startsWith("{")) {
    const parsed = parseJson(line);
    if (parsed !== null) return fromJson(parsed);
  }
  if (line.includes("Plaintext passwords detected")) return { level: "info", text: line }; // The password in our own config protects nothing (nats-config.ts).
  const nats = /^\[\d+\] \S+ \S+ \[(INF|WRN|ERR|FTL|DBG|TRC)\] (.*)$/.exec(line);
  if (nats !== null) return { level: NATS_LEVELS[nats[1] ?? ""] ?? "info", text: nats[2] ?? "" };
  return { level: "info", text: line };
}

/** The coded reason that a service gives in its last line when it ends by itself. */
export interface Fatal {
  readonly code: string;
  readonly message: string;
  readonly remedy: string;
}

/** Null: the line is not such a one. */
export function fatalIn(line: string): Fatal | null {
  const record = line.startsWith("{") ? parseJson(line) : null;
  if (record?.level !== "fatal") return null;
  const { code, remedy } = record;
  const message = record.message ?? record.msg;
  if (typeof code !== "string" || typeof message !== "string" || typeof remedy !== "string") return null;
  return { code, message, remedy };
}

function parseJson(line: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : null;
  } catch {
    return null; // A line that only looks like JSON is shown unchanged.
  }
}

function fromJson(record: Record<string, unknown>): CompactLine {
  const level = typeof record.level === "number" ? LEVELS[record.level] : undefined;
  const named =
    typeof record.level === "string" && Object.values(LEVELS).find((name) => name === record.level);
  const fields = Object.entries(record)
    .filter(([key]) => !NOISE.has(key))
    .map(([key, value]) => `${key}=${show(value)}`);
  const message = typeof record.msg === "string" ? record.msg : "";
  return {
    level: level ?? (named || "info"),
    text: [message, ...fields].filter((part) => part !== "").join(" "),
  };
}

function show(value: unknown): string {
  if (typeof value === "string") return value;
  if (typeof value === "object" && value !== null && "message" in value && typeof value.message === "string")
    return value.message;
  return JSON.stringify(value) ?? "";
}

const MAX_LINE_CHARS = 64 * 1024;

/** Splits chunks into lines. An unfinished line is cut at 64 KiB so that memory stays bounded. */
export class LineSplitter {
  readonly #emit: (line: string) => void;
  #rest = "";

  constructor(emit: (line: string) => void) {
    this.#emit = emit;
  }

  push(text: string): void {
    const lines = (this.#rest + text).split("\n");
    this.#rest = lines.pop() ?? "";
    for (const line of lines) if (line !== "") this.#emit(line);
    if (this.#rest.length > MAX_LINE_CHARS) {
      this.#emit(this.#rest);
      this.#rest = "";
    }
  }
}
