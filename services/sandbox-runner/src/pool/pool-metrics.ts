/** The metrics of the pool and of the places for jobs. */
import { readingsBy, type Meter } from "@antiphon/runtime";
import type { Slots } from "../jobs/slots.ts";
import type { WarmPool } from "./pool.ts";

export function measureSandboxes(
  meter: Meter,
  pool: Pick<WarmPool, "counts" | "measures">,
  slots: Pick<Slots, "taken" | "most">,
): void {
  meter.read("antiphon_sandbox_pool", () => {
    const { ready, starting, leased } = pool.counts;
    return readingsBy("state", { ready, starting, leased, wanted: pool.measures.wanted });
  });
  meter.read("antiphon_sandbox_taken_total", () => {
    const { warm, cold } = pool.measures;
    return readingsBy("state", { warm, cold });
  });
  meter.read("antiphon_sandbox_slots", () =>
    readingsBy("state", { used: slots.taken, free: slots.most - slots.taken }),
  );
}
