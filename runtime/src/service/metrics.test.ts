import { expect, test } from "vitest";
import type { Bus } from "../nats/bus.ts";
import { openMetrics } from "./metrics.ts";

const bus = {
  connected: true,
  forged: { total: 0 },
  publisherStats: () => ({ pending: 0, pendingBytes: 0, singles: 0, batches: 0, batched: 0, retried: 0 }),
} as unknown as Bus;

test("serves a role's measures with their states, and a count as the increase since the last read", async () => {
  let taken = 2;
  const registry = await openMetrics("runner", bus, [
    { name: "antiphon_pool", help: "Sandboxes.", read: () => ({ ready: 3, leased: 1 }) },
    { name: "antiphon_taken_total", help: "Taken.", read: () => ({ warm: taken }) },
  ]);
  const first = await registry.metrics();
  expect(first).toContain('antiphon_pool{state="ready",service="runner"} 3');
  expect(first).toContain('antiphon_pool{state="leased",service="runner"} 1');
  expect(first).toContain('antiphon_taken_total{state="warm",service="runner"} 2');
  taken = 5;
  expect(await registry.metrics()).toContain('antiphon_taken_total{state="warm",service="runner"} 5');
});
