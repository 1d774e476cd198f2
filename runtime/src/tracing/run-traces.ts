import { anchorSpanId, type StagePlace } from "@antiphon/contracts/tracing/stages";
import {
  parseTraceparent,
  traceparentOf,
  type TraceContext,
} from "@antiphon/contracts/tracing/trace-context";
import { Generations } from "../process/generations.ts";

/** At least this many runs are remembered; one takes some 150 bytes. */
const rememberedRuns = 10_000;

type Trace = Pick<TraceContext, "traceId" | "sampled">;

/**
 * The traces of the runs whose records this process has read. A run's trace is in the header of its records, so a process
 * that has read nothing of a run writes without it.
 */
export class RunTraces {
  private readonly traces = new Generations<Trace>(rememberedRuns);

  learn(runId: string, traceparent: string): void {
    if (this.traces.has(runId)) return;
    const context = parseTraceparent(traceparent);
    if (context !== null) this.traces.set(runId, { traceId: context.traceId, sampled: context.sampled });
  }

  /** The context of the run's stage; null: the run has no trace, or none is known here. */
  contextOf(place: StagePlace): TraceContext | null {
    const trace = this.traces.get(place.runId);
    return trace === undefined ? null : { ...trace, spanId: anchorSpanId(trace.traceId, place) };
  }

  /** The same as a header. */
  headerOf(place: StagePlace): string | undefined {
    const context = this.contextOf(place);
    return context === null ? undefined : traceparentOf(context);
  }
}
