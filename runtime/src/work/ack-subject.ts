/** The details of a delivery that JetStream puts into its acknowledgement subject (ADR-15). */
export interface DeliveryInfo {
  stream: string;
  consumer: string;
  /** 1 on the first delivery. */
  deliveries: number;
  seq: number;
  atMs: number;
  /** Further messages waiting for this consumer. */
  pending: number;
}

/**
 * `$JS.ACK.[<domain>.<account>.]<stream>.<consumer>.<delivered>.<stream seq>.<consumer seq>.<ns>.<pending>[.<token>]`
 */
export function parseAckSubject(subject: string): DeliveryInfo | null {
  const parts = subject.split(".");
  if (parts[0] !== "$JS" || parts[1] !== "ACK") return null;
  const from = parts.length === 9 ? 2 : 4;
  const [stream, consumer, delivered, seq, , nanos, pending] = parts.slice(from);
  if (stream === undefined || consumer === undefined || pending === undefined) return null;
  return {
    stream,
    consumer,
    deliveries: Number(delivered),
    seq: Number(seq),
    // Cut from the digits: as a number the timestamp loses precision, and sometimes a millisecond.
    atMs: Number((nanos ?? "").slice(0, -6)),
    pending: Number(pending),
  };
}
