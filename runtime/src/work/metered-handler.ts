import type { ConsumerName } from "@antiphon/contracts";
import type { Meter } from "../service/meter.ts";
import type { Outcome } from "./outcome.ts";
import type { Delivery } from "./delivery-handler.ts";

/** The handler, with its deliveries counted by outcome and timed. A throw counts as a retry. */
export function metered(
  meter: Meter,
  consumer: ConsumerName,
  handle: (delivery: Delivery) => Promise<Outcome>,
): (delivery: Delivery) => Promise<Outcome> {
  if (!meter.isOn) return handle;
  return async (delivery) => {
    const begun = performance.now();
    let outcome: Outcome | null = null;
    try {
      outcome = await handle(delivery);
      return outcome;
    } finally {
      const code = outcome === null ? "ANT_INTERNAL" : "code" in outcome ? (outcome.code ?? "none") : "none";
      meter.count("antiphon_deliveries_total", { consumer, outcome: outcome?.kind ?? "retry", code });
      const seconds = (performance.now() - begun) / 1_000;
      meter.observe("antiphon_delivery_duration_seconds", { consumer }, seconds);
    }
  };
}
