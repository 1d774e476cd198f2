/** A finished span, in the words of OpenTelemetry. */
export type SpanKind = "internal" | "server" | "client" | "producer" | "consumer";

export interface Span {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId: string | null;
  readonly name: string;
  readonly kind: SpanKind;
  /** Milliseconds since 1970, with a fraction. */
  readonly startMs: number;
  readonly endMs: number;
  readonly attributes: Readonly<Record<string, string | number | boolean>>;
  /** Why it failed; null: it did not. */
  readonly error: string | null;
}
