import { AsyncLocalStorage } from "node:async_hooks";
import { randomBytes } from "node:crypto";
import { AntiphonError } from "@antiphon/contracts";
import type { Span } from "@antiphon/contracts/tracing/span";
import type { TraceContext } from "@antiphon/contracts/tracing/trace-context";
import type { Note, SpanWords, Tracer } from "./tracer.ts";

/** Takes finished spans and sends them some time. */
export interface SpanSink {
  add(spans: readonly Span[]): void;
  close(): Promise<void>;
}

/** What is under way in this flow of calls. */
interface Around {
  readonly anchor: TraceContext;
  readonly spanId: string;
  /** Finished spans below the outermost one of this process. */
  readonly finished: Span[];
}

/**
 * A tracer whose spans end at a sink. The spans of this process below one stage are told together when the outermost of
 * them ends: if the process dies before, none of them is told, and no span is left without its parent.
 */
export function liveTracer(sink: SpanSink): Tracer {
  const flow = new AsyncLocalStorage<Around>();

  const span = async <T>(words: SpanWords, work: (note: Note) => Promise<T>): Promise<T> => {
    const around = flow.getStore();
    const anchor = words.parent ?? around?.anchor ?? null;
    if (anchor?.sampled !== true) return work(() => undefined);
    const isInside = words.parent === undefined && around !== undefined;
    const here: Around = {
      anchor,
      spanId: randomBytes(8).toString("hex"),
      finished: isInside ? around.finished : [],
    };
    const startMs = performance.timeOrigin + performance.now();
    let attributes = words.attributes ?? {};
    let error: string | null = null;
    try {
      return await flow.run(here, () => work((more) => (attributes = { ...attributes, ...more })));
    } catch (thrown) {
      error = AntiphonError.from(thrown).code;
      throw thrown;
    } finally {
      here.finished.push({
        traceId: anchor.traceId,
        spanId: here.spanId,
        parentSpanId: isInside ? around.spanId : anchor.spanId,
        name: words.name,
        kind: words.kind ?? "internal",
        startMs,
        endMs: performance.timeOrigin + performance.now(),
        attributes,
        error,
      });
      if (!isInside) sink.add(here.finished);
    }
  };

  return {
    isOn: true,
    span,
    tell: (spans) => sink.add(spans),
    outgoing: () => flow.getStore()?.anchor ?? null,
    close: () => sink.close(),
  };
}
