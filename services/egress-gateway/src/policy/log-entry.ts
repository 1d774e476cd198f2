/** One line of a sandbox's request log: the request, the decision with its rule, and the outcome. */
export interface LogEntry {
  /** ISO-8601. */
  readonly at: string;
  readonly method: string;
  readonly host: string;
  readonly port: number;
  /** Without the values of the query. Null where only the host is known (a tunnel that is passed through). */
  readonly path: string | null;
  readonly decision: "allow" | "refuse" | "fault";
  readonly rule: string;
  /** ANT_EGRESS_*; null when the request passed. */
  readonly code: string | null;
  readonly why: string | null;
  /** HTTP status of the answer; null: there was none. */
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
  /** Object name of the recording; null when it could not be stored. */
  readonly recording: string | null;
  /** The fault of a call that left and whose answer is of no use. */
  readonly failed?: string;
  /** Tokens: the bound of the answer where the budget allowed less than the call asked for. */
  readonly answer_bound?: number;
  /** Fields and tools that did not leave, because they would cost extra. */
  readonly removed?: readonly string[];
  /** Fields that left although the gateway does not know them. */
  readonly unknown?: readonly string[];
}

export function logText(entries: readonly LogEntry[]): string {
  return entries.map((entry) => `${JSON.stringify(entry)}\n`).join("");
}
