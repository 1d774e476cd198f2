import type { CounterName, GaugeName, HistogramName, LabelsOf } from "@antiphon/contracts";

/** A value and its labels, as a metric has it at one scrape. */
export interface Reading<N extends CounterName | GaugeName> {
  readonly labels: LabelsOf<N>;
  readonly value: number;
}

/**
 * Where a part of a service counts and times its work. The names and labels are those of the table METRICS. A service
 * without a metrics endpoint has the silent one, which does nothing.
 */
export interface Meter {
  /** False: nothing is kept, so the caller need not work out labels. */
  readonly isOn: boolean;
  /** Adds `by`, default 1. */
  count<N extends CounterName>(name: N, labels: LabelsOf<N>, by?: number): void;
  /** Adds a duration. */
  observe<N extends HistogramName>(name: N, labels: LabelsOf<N>, seconds: number): void;
  /**
   * Reads these values at each scrape. Those of a counter are totals since the process started. A read that rejects, or
   * takes longer than 1 s, leaves its metric out of that scrape.
   */
  read<N extends CounterName | GaugeName>(
    name: N,
    read: () => readonly Reading<N>[] | Promise<readonly Reading<N>[]>,
  ): void;
}

export const silentMeter: Meter = {
  isOn: false,
  count: () => undefined,
  observe: () => undefined,
  read: () => undefined,
};

/** Values by one label, such as the states of a pool. */
export function readingsBy<L extends string>(
  label: L,
  values: Readonly<Record<string, number>>,
): { labels: Readonly<Record<L, string>>; value: number }[] {
  return Object.entries(values).map(([key, value]) => ({
    labels: { [label]: key } as Record<L, string>,
    value,
  }));
}
