import type { Registry } from "prom-client";
import type { Bus } from "../nats/bus.ts";

/** A measure of a role, read on each scrape: one value for each state, with the label `state`. */
export interface Measure {
  /** `antiphon_<name>`; a count that only grows ends in `_total`. */
  readonly name: string;
  readonly help: string;
  readonly read: () => Readonly<Record<string, number>>;
}

/**
 * The process's metrics registry, loaded on first use: prom-client takes 3 MB, which a service without a metrics
 * endpoint saves.
 */
export async function openMetrics(
  service: string,
  bus: Bus,
  measures: readonly Measure[] = [],
): Promise<Registry> {
  // Only the default export exists both in Node's own loader and in a bundle.
  const { default: client } = await import("prom-client");
  const { Counter, Gauge, Registry: RegistryClass, collectDefaultMetrics } = client;
  const registry = new RegistryClass();
  registry.setDefaultLabels({ service });
  collectDefaultMetrics({ register: registry });
  new Gauge({
    name: "antiphon_publisher_pending",
    help: "Messages queued or in flight to JetStream.",
    registers: [registry],
    collect() {
      this.set(bus.publisherStats().pending);
    },
  });
  const commits = (["singles", "batches", "batched", "retried"] as const).map((kind) => ({ kind, seen: 0 }));
  new Counter({
    name: "antiphon_publisher_commits_total",
    help: "Commits by kind: singles, batches, messages in batches, and messages sent again.",
    labelNames: ["kind"],
    registers: [registry],
    collect() {
      const stats = bus.publisherStats();
      for (const commit of commits) {
        this.inc({ kind: commit.kind }, stats[commit.kind] - commit.seen);
        commit.seen = stats[commit.kind];
      }
    },
  });
  let forged = 0;
  new Counter({
    name: "antiphon_forged_decisions_total",
    help: "Messages on the subject of a decision that no trusted Director signed.",
    registers: [registry],
    collect() {
      this.inc(bus.forged.total - forged);
      forged = bus.forged.total;
    },
  });
  new Gauge({
    name: "antiphon_bus_up",
    help: "1 while connected to NATS.",
    registers: [registry],
    collect() {
      this.set(bus.connected ? 1 : 0);
    },
  });
  for (const { name, help, read } of measures) {
    const labels = { name, help, labelNames: ["state"], registers: [registry] };
    if (name.endsWith("_total")) {
      const told = new Map<string, number>();
      new Counter({
        ...labels,
        collect() {
          for (const [state, value] of Object.entries(read())) {
            this.inc({ state }, value - (told.get(state) ?? 0));
            told.set(state, value);
          }
        },
      });
    } else {
      new Gauge({
        ...labels,
        collect() {
          for (const [state, value] of Object.entries(read())) this.set({ state }, value);
        },
      });
    }
  }
  return registry;
}

/** Serves `/metrics` on loopback; returns how to stop. Port 0 picks a free one. */
export async function serveMetrics(
  registry: Registry,
  port: number,
): Promise<{ port: number; close(): void }> {
  const { createServer } = await import("node:http");
  const server = createServer((request, response) => {
    if (request.url !== "/metrics") {
      response.writeHead(404).end();
      return;
    }
    void registry.metrics().then((text) => {
      response.writeHead(200, { "Content-Type": registry.contentType }).end(text);
    });
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, "127.0.0.1", resolve);
  });
  const address = server.address();
  server.unref();
  return {
    port: typeof address === "object" && address !== null ? address.port : port,
    close: () => server.close(),
  };
}
