// The trace of a new run: that of the caller's `traceparent`, or one of its own where this deployment records traces.
import { randomBytes } from "node:crypto";
import { AntiphonError } from "@antiphon/contracts";
import { stageSpanId } from "@antiphon/contracts/tracing/stages";
import {
  parseTraceparent,
  traceparentOf,
  type TraceContext,
} from "@antiphon/contracts/tracing/trace-context";
import { silentTracer, type Tracer } from "@antiphon/runtime";

export class RunTraces {
  readonly #tracer: Tracer;

  constructor(tracer: Tracer = silentTracer) {
    this.#tracer = tracer;
  }

  /** `start` gets the header for the run's first record; undefined: the run has no trace. */
  async started<T>(
    runId: string,
    given: string | undefined,
    start: (traceparent: string | undefined) => Promise<T>,
  ): Promise<T> {
    const caller = parseTraceparent(given);
    const context = caller ?? (this.#tracer.isOn ? ownContext(runId) : null);
    if (context === null) return start(undefined);
    const attributes = { "antiphon.run": runId };
    const begunMs = Date.now();
    try {
      return await this.#tracer.span(
        { name: "gateway start run", kind: "server", parent: context, attributes },
        () => start(traceparentOf(context)),
      );
    } catch (error) {
      if (caller === null) this.#tellRefused(context, begunMs, error);
      throw error;
    }
  }

  /** No Director will tell the span of a run that was refused. */
  #tellRefused({ traceId, spanId }: TraceContext, startMs: number, error: unknown): void {
    const { code } = AntiphonError.from(error);
    const place = { traceId, spanId, parentSpanId: null, kind: "internal" as const, attributes: {} };
    this.#tracer.tell([{ ...place, name: "run refused", startMs, endMs: Date.now(), error: code }]);
  }
}

function ownContext(runId: string): TraceContext {
  const traceId = randomBytes(16).toString("hex");
  const spanId = stageSpanId(traceId, "run", { runId, taskId: null, epoch: 0 });
  return { traceId, spanId, sampled: true };
}
