import type { Bus } from "../nats/bus.ts";
import type { Meter } from "./meter.ts";
import { readingsBy } from "./meter.ts";

/** The metrics that every service has: its version and its connection to NATS. */
export function measureBus(meter: Meter, bus: Bus, version: string): void {
  const one = (value: number) => [{ labels: {}, value }];
  meter.read("antiphon_build_info", () => [{ labels: { version }, value: 1 }]);
  meter.read("antiphon_bus_up", () => one(bus.connected ? 1 : 0));
  meter.read("antiphon_publisher_pending", () => one(bus.publisherStats().pending));
  meter.read("antiphon_publisher_commits_total", () => {
    const { singles, batches, batched, retried } = bus.publisherStats();
    return readingsBy("kind", { singles, batches, batched, retried });
  });
  meter.read("antiphon_forged_decisions_total", () => one(bus.forged.total));
}
