/**
 * Result of a publish, with three values: `unknown` means that the message may or may not be stored, and the only safe
 * continuation is to send the same message again, under the same subject and expectation.
 */
export type PublishResult =
  /** `count`: number of messages that this acknowledges: the members of an atomic batch, or 1. */
  | { kind: "ok"; seq: number; count: number }
  | { kind: "failed"; code: number; description: string; refusal: Refusal }
  | { kind: "unknown"; reason: string };

/** Why a message was certainly not stored. */
export type Refusal =
  /** The subject's last sequence is not the expected one: another message was stored first. */
  | "expectation"
  /** The server is deciding the same expectation for another publisher right now; ask again. */
  | "contended"
  /** A problem of the atomic batch; the same message alone may be accepted. */
  | "batch"
  /** The server cannot accept it now (starting, no leader, no listener). */
  | "unavailable"
  /** A limit of the stream, account or disk. */
  | "full"
  | "rejected";

// Error codes of JetStream's API (ADR-7 numbers; the texts are not stable).
const refusals = new Map<number, Refusal>([
  [10071, "expectation"],
  [10164, "contended"],
  [10158, "contended"],
  [10008, "unavailable"],
  [10009, "unavailable"],
  [10118, "unavailable"],
  [503, "unavailable"],
  [10023, "full"],
  [10002, "full"],
  [10028, "full"],
  [10047, "full"],
  [10077, "full"],
  [10174, "batch"],
  [10175, "batch"],
  [10176, "batch"],
  [10177, "batch"],
  [10179, "batch"],
  [10199, "batch"],
  [10200, "batch"],
  [10201, "batch"],
  [10210, "batch"],
  [10211, "batch"],
]);

export function refusalOf(code: number): Refusal {
  return refusals.get(code) ?? "rejected";
}

interface AckBody {
  seq?: number;
  count?: number;
  error?: { code?: number; err_code?: number; description?: string };
}

/** Reads a PubAck. An empty body is the server's "no responders" status. */
export function parsePubAck(data: Uint8Array): PublishResult {
  if (data.length === 0) return failed(503, "no stream listens on this subject");
  let body: AckBody | null;
  try {
    body = JSON.parse(
      Buffer.from(data.buffer, data.byteOffset, data.byteLength).toString("utf8"),
    ) as AckBody | null;
  } catch (error) {
    return { kind: "unknown", reason: `unreadable acknowledgement: ${String(error)}` };
  }
  if (body === null) return { kind: "unknown", reason: "unreadable acknowledgement: null" };
  if (body.error !== undefined) {
    return failed(body.error.err_code ?? body.error.code ?? 0, body.error.description ?? "refused");
  }
  if (typeof body.seq !== "number") return { kind: "unknown", reason: "acknowledgement without a sequence" };
  return { kind: "ok", seq: body.seq, count: body.count ?? 1 };
}

export function failed(code: number, description: string): PublishResult & { kind: "failed" } {
  return { kind: "failed", code, description, refusal: refusalOf(code) };
}
