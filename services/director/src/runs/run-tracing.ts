/**
 * Exports the traces of runs. The spans of a run's stages are made from its records when it is over, so they are complete even
 * if processes died meanwhile. If a Director dies right after the last record, the redelivery exports them; a second export
 * has the same spans.
 */
import type { StoredRecord } from "@antiphon/contracts";
import type { StagePlace } from "@antiphon/contracts/tracing/stages";
import { traceOf } from "@antiphon/run";
import type { Bus } from "@antiphon/runtime";

export interface RunTracing {
  /** Times an effect as a span of its stage. */
  effect<T>(kind: string, place: StagePlace, work: () => Promise<T>): Promise<T>;
  closed(records: readonly StoredRecord[]): void;
}

export const noTracing: RunTracing = { effect: (_kind, _place, work) => work(), closed: () => undefined };

export function openRunTracing({ tracer, records }: Pick<Bus, "tracer" | "records">): RunTracing {
  if (!tracer.isOn) return noTracing;
  return {
    effect: (kind, place, work) =>
      tracer.span({ name: `director ${kind}`, parent: records.traces.contextOf(place) }, () => work()),
    closed: (all) => tracer.tell(traceOf(all)),
  };
}
