/** W3C trace context, as the header `traceparent` carries it over HTTP and NATS. */
export interface TraceContext {
  /** 32 hex digits. */
  readonly traceId: string;
  /** 16 hex digits: the span that further ones belong to. */
  readonly spanId: string;
  /** The caller wants the trace to be recorded. */
  readonly sampled: boolean;
}

const TRACEPARENT =
  /^(?!ff)([0-9a-f]{2})-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;
/** A longer header is nobody's trace context. */
const LONGEST = 256;

/** Null: it is no trace context, and is ignored, as W3C asks. */
export function parseTraceparent(text: string | undefined): TraceContext | null {
  if (text === undefined || text.length > LONGEST) return null;
  const [, version, traceId, spanId, flags, more] = TRACEPARENT.exec(text) ?? [];
  if (traceId === undefined || spanId === undefined || flags === undefined) return null;
  if (more !== undefined && version === "00") return null; // only later versions may add parts
  return { traceId, spanId, sampled: (Number.parseInt(flags, 16) & 1) === 1 };
}

export const traceparentOf = ({ traceId, spanId, sampled }: TraceContext): string =>
  `00-${traceId}-${spanId}-${sampled ? "01" : "00"}`;
