/** Spans as an OTLP/HTTP request in JSON (opentelemetry.proto.collector.trace.v1). */
import type { Span, SpanKind } from "@antiphon/contracts/tracing/span";

/** The numbers of opentelemetry.proto.trace.v1.Span.SpanKind. */
const KINDS: Readonly<Record<SpanKind, number>> = {
  internal: 1,
  server: 2,
  client: 3,
  producer: 4,
  consumer: 5,
};
const STATUS_ERROR = 2;

export interface Resource {
  readonly service: string;
  readonly version: string;
  /** Unique name of the process. */
  readonly node: string;
}

export function otlpDocument({ service, version, node }: Resource, spans: readonly Span[]): object {
  const resource = {
    "service.name": `antiphon-${service}`,
    "service.namespace": "antiphon",
    "service.version": version,
    "service.instance.id": node,
  };
  const scope = { name: "antiphon", version };
  return {
    resourceSpans: [
      { resource: { attributes: attributesOf(resource) }, scopeSpans: [{ scope, spans: spans.map(spanOf) }] },
    ],
  };
}

function spanOf(span: Span): object {
  const { traceId, spanId, parentSpanId, name, kind, startMs, endMs, attributes, error } = span;
  return {
    traceId,
    spanId,
    ...(parentSpanId === null ? {} : { parentSpanId }),
    name,
    kind: KINDS[kind],
    startTimeUnixNano: nanoseconds(startMs),
    endTimeUnixNano: nanoseconds(endMs),
    attributes: attributesOf(attributes),
    ...(error === null ? {} : { status: { code: STATUS_ERROR, message: error } }),
  };
}

/** A double cannot hold nanoseconds since 1970, so the text is made of two whole numbers. */
function nanoseconds(ms: number): string {
  const whole = Math.floor(ms);
  return `${whole}${String(Math.floor((ms - whole) * 1e6)).padStart(6, "0")}`;
}

const attributesOf = (attributes: Span["attributes"]): object[] =>
  Object.entries(attributes).map(([key, value]) => ({ key, value: valueOf(value) }));

function valueOf(value: string | number | boolean): object {
  if (typeof value === "string") return { stringValue: value };
  if (typeof value === "boolean") return { boolValue: value };
  return Number.isInteger(value) ? { intValue: String(value) } : { doubleValue: value };
}
