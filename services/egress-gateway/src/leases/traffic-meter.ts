/** Counts the traffic of sandboxes and its price, from the lines of their request logs. */
import type { Meter } from "@antiphon/runtime";
import type { LogEntry } from "../policy/log-entry.ts";

const MICRO = 1_000_000;

export function measureTraffic(meter: Meter, entry: LogEntry): void {
  const { decision, code, bytes_up, bytes_down, host, model } = entry;
  meter.count("antiphon_egress_requests_total", { decision, code: code ?? "none" });
  meter.count("antiphon_egress_bytes_total", { direction: "up" }, bytes_up);
  meter.count("antiphon_egress_bytes_total", { direction: "down" }, bytes_down);
  if (model === undefined) return;
  // Both are names from the gateway's configuration: no other model has a price, and only such calls are let through.
  const labels = { host, model: model.name };
  meter.count("antiphon_model_calls_total", labels);
  meter.count("antiphon_model_tokens_total", labels, model.charged_tokens);
  meter.count("antiphon_model_cost_dollars_total", labels, model.charged_usd_micro / MICRO);
}
