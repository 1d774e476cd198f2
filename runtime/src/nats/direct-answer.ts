/** Reads the answers of a direct get (ADR-31): a stored message, or how a series ends. */
import type { Msg } from "@nats-io/nats-core";
import { headersOf } from "./wire-headers.ts";

export interface StoredMessage {
  subject: string;
  seq: number;
  at: Date;
  data: Uint8Array;
  header(name: string): string;
  /** All headers it was stored with, without those that the answer added. */
  headers(): Record<string, string>;
}

/** What one request came to. */
export type Attempt =
  | { kind: "done"; messages: StoredMessage[]; pending: number; upToSeq: number }
  | { kind: "none" }
  | { kind: "too-many" }
  | { kind: "unreadable" }
  | { kind: "later"; reason: string };

/** One message, the next messages, or the last message of each of several subjects. */
export type Wanted = "one" | "next" | "last";

/** Each message of a series, and its end, names the sequence before it, so a lost message is noticed. */
export function isAfterGap(message: Msg, before: readonly StoredMessage[]): boolean {
  const named = message.headers?.get("Nats-Last-Sequence") ?? "";
  return named !== "" && Number(named) !== (before.at(-1)?.seq ?? 0);
}

export function endOf(message: Msg, code: number, wanted: Wanted, messages: StoredMessage[]): Attempt {
  if (code === 204) {
    const pending = Number(message.headers?.get("Nats-Num-Pending") ?? "0");
    const upToSeq = Number(message.headers?.get("Nats-UpTo-Sequence") ?? "0");
    return { kind: "done", messages, pending, upToSeq };
  }
  if (code === 404) {
    // "No Results": no such subject. "Message Not Found": the subject exists, but the server cannot read the message.
    const isListed = messages.length > 0 || message.headers?.description === "Message Not Found";
    return wanted === "last" && isListed ? { kind: "unreadable" } : { kind: "none" };
  }
  if (code === 413) return { kind: "too-many" };
  return { kind: "later", reason: `status ${code} ${message.headers?.description ?? ""}` };
}

export function stored(message: Msg): StoredMessage {
  const header = headersOf(message);
  return {
    subject: header("Nats-Subject"),
    seq: Number(header("Nats-Sequence")),
    at: new Date(header("Nats-Time-Stamp")),
    data: message.data,
    header,
    headers: () => storedHeaders(message),
  };
}

/** Headers that a direct get adds to the message (ADR-31). */
const ADDED: ReadonlySet<string> = new Set([
  "Nats-Stream",
  "Nats-Subject",
  "Nats-Sequence",
  "Nats-Time-Stamp",
  "Nats-Num-Pending",
  "Nats-Last-Sequence",
  "Nats-UpTo-Sequence",
]);

function storedHeaders({ headers }: Msg): Record<string, string> {
  const names = (headers?.keys() ?? []).filter((name) => !ADDED.has(name));
  return Object.fromEntries(names.map((name) => [name, headers?.get(name) ?? ""]));
}
