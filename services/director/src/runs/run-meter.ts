/**
 * Counts and times runs by their records. A record that a Director stored is measured by that Director, one that others
 * wrote at its first delivery; so each is measured about once by all Directors together. A crash in between loses a
 * measurement and nothing else.
 */
import type { StoredRecord } from "@antiphon/contracts";
import { measurementsOf } from "@antiphon/run";
import type { Meter } from "@antiphon/runtime";

/** Written by other services. */
const BY_OTHERS: ReadonlySet<StoredRecord["type"]> = new Set(["routed", "claim", "result"]);

export class RunMeter {
  readonly #meter: Meter;

  constructor(meter: Meter) {
    this.#meter = meter;
  }

  /** This process stored the record. `records`: of its run. */
  stored(record: StoredRecord, records: readonly StoredRecord[]): void {
    if (this.#meter.isOn && !BY_OTHERS.has(record.type)) this.#measure(record, records);
  }

  delivered(record: StoredRecord, records: readonly StoredRecord[], deliveries: number): void {
    if (this.#meter.isOn && deliveries === 1 && BY_OTHERS.has(record.type)) this.#measure(record, records);
  }

  #measure(record: StoredRecord, records: readonly StoredRecord[]): void {
    for (const one of measurementsOf(record, records)) {
      if ("count" in one) this.#meter.count(one.count, one.labels);
      else this.#meter.observe(one.observe, one.labels, one.seconds);
    }
  }
}
