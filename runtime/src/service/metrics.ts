import { METRICS, type CounterName, type GaugeName, type HistogramName } from "@antiphon/contracts";
import type { Counter, Gauge, Histogram, Registry } from "prom-client";
import type { Meter, Reading } from "./meter.ts";
import { withDeadline } from "../process/with-deadline.ts";

/** A meter whose numbers Prometheus can scrape. */
export interface Metrics extends Meter {
  /** The answer to a scrape. */
  scrape(): Promise<{ type: string; text: string }>;
}

/** Less than the time that a health check of a container waits for its answer. */
const READ_MS = 1_000;

/**
 * The metrics of a process. prom-client is loaded here and not before: it takes 3 MB, which a service without a metrics
 * endpoint saves.
 */
export async function openMetrics(service: string): Promise<Metrics> {
  // Only the default export exists both in Node's own loader and in a bundle.
  const { default: client } = await import("prom-client");
  const registry: Registry = new client.Registry();
  registry.setDefaultLabels({ service });
  let isScraped = false;
  /** Node's own metrics begin with the first scrape: they watch the event loop a hundred times a second, read or not. */
  const watchNode = (): void => {
    isScraped = true;
    client.collectDefaultMetrics({ register: registry });
    // Gauges with the ending of a counter; those without it have the same numbers by kind.
    for (const what of ["handles", "requests", "resources"])
      registry.removeSingleMetric(`nodejs_active_${what}_total`);
  };
  const counters = new Map<CounterName, Counter>();
  const histograms = new Map<HistogramName, Histogram>();

  const about = (name: CounterName | GaugeName | HistogramName) => {
    const { help, labels } = METRICS[name];
    return { name, help, labelNames: [...labels], registers: [registry] };
  };
  const counterOf = (name: CounterName): Counter => {
    const counter = counters.get(name) ?? new client.Counter(about(name));
    counters.set(name, counter);
    return counter;
  };

  return {
    isOn: true,
    count(name, labels, by = 1) {
      counterOf(name).inc(labels, by);
    },
    observe(name, labels, seconds) {
      const made = histograms.get(name);
      const histogram = made ?? new client.Histogram({ ...about(name), buckets: [...METRICS[name].buckets] });
      if (made === undefined) histograms.set(name, histogram);
      histogram.observe(labels, Math.max(0, seconds));
    },
    read(name, read) {
      // A total that a part keeps by itself is set anew at each scrape, so both kinds are alike here.
      const metric: { collect: (this: Counter | Gauge) => Promise<void> } = {
        async collect() {
          const readings = await latestOf(read);
          this.reset();
          this.remove({}); // a metric without labels would say 0
          for (const { labels, value } of readings) this.inc(labels, value);
        },
      };
      if (METRICS[name].type === "counter") new client.Counter({ ...about(name), ...metric });
      else new client.Gauge({ ...about(name), ...metric });
    },
    async scrape() {
      if (!isScraped) watchNode();
      return { type: registry.contentType, text: await registry.metrics() };
    },
  };
}

/** No readings if they cannot be had in time: an old number would look like a true one. */
async function latestOf<N extends CounterName | GaugeName>(
  read: () => readonly Reading<N>[] | Promise<readonly Reading<N>[]>,
): Promise<readonly Reading<N>[]> {
  const reading = (async () => read())().catch(() => []);
  return withDeadline(READ_MS, reading, () => []);
}
