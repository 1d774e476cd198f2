import type { Span, SpanKind } from "@antiphon/contracts/tracing/span";
import type { TraceContext } from "@antiphon/contracts/tracing/trace-context";

export interface SpanWords {
  readonly name: string;
  /** Default `internal`. */
  readonly kind?: SpanKind;
  /** Default: the span around, if there is one. */
  readonly parent?: TraceContext | null;
  readonly attributes?: Span["attributes"];
}

/** Adds to the span under way. */
export type Note = (attributes: Span["attributes"]) => void;

/**
 * Where the parts of a service tell their spans. Without an address for traces it is the silent one, which only calls the
 * work.
 */
export interface Tracer {
  readonly isOn: boolean;
  /** Times the work as a span. Work outside of any trace is not timed. */
  span<T>(words: SpanWords, work: (note: Note) => Promise<T>): Promise<T>;
  /** Spans that are known as a whole. */
  tell(spans: readonly Span[]): void;
  /**
   * The context for a message to another process: the stage around, whose span is certain to be told, and not the span
   * around, which ends with this process.
   */
  outgoing(): TraceContext | null;
  /** Sends what is left, within the deadline of a stop. */
  close(): Promise<void>;
}

const ignored: Note = () => undefined;

export const silentTracer: Tracer = {
  isOn: false,
  span: (_words, work) => work(ignored),
  tell: () => undefined,
  outgoing: () => null,
  close: () => Promise.resolve(),
};
