import type { Logger } from "../process/logger.ts";
import { VERSION } from "../service/version.ts";
import { liveTracer } from "./live-tracer.ts";
import { OtlpSink, type OtlpPlace } from "./otlp-sink.ts";
import { silentTracer, type Tracer } from "./tracer.ts";

/** Null: traces are off. */
export function openTracer(
  place: OtlpPlace | null,
  process: { service: string; node: string },
  log: Logger,
): Tracer {
  return place === null
    ? silentTracer
    : liveTracer(new OtlpSink(place, { ...process, version: VERSION }, log));
}
