/** One line of a sandbox's request log: what was asked, what was decided, by which rule, and what came of it. */
export interface LogEntry {
  /** ISO-8601. */
  readonly at: string;
  readonly method: string;
  readonly host: string;
  readonly port: number;
  /** Query values left out; null where only the name is known (a tunnel that is not looked into). */
  readonly path: string | null;
  readonly decision: "allow" | "refuse" | "fault";
  readonly rule: string;
  /** ANT_EGRESS_*; null when it passed. */
  readonly code: string | null;
  readonly why: string | null;
  /** Of the answer; null: there was none. */
  readonly status: number | null;
  readonly bytes_up: number;
  readonly bytes_down: number;
  readonly ms: number;
  readonly model?: ModelEntry;
}

export interface ModelEntry {
  readonly name: string;
  readonly reserved_tokens: number;
  readonly charged_tokens: number;
  readonly charged_usd_micro: number;
  /** Name of the recording's object. */
  readonly recording: string | null;
}

export function logText(entries: readonly LogEntry[]): string {
  return entries.map((entry) => `${JSON.stringify(entry)}\n`).join("");
}
