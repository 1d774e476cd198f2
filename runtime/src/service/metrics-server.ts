import { createServer } from "node:http";
import type { Bus } from "../nats/bus.ts";
import type { Metrics } from "./metrics.ts";

/**
 * Serves `/metrics` to Prometheus and, for health checks, `/livez` and `/readyz`; returns how to stop. Port 0 picks a free one.
 *
 * A health check asks every few seconds, so it is answered without a scrape: that would also start the costly watch of the
 * event loop.
 *
 * A service whose messages are refused for lack of space is ready all the same, since none would do better in its place; the answer
 * says so.
 */
export async function serveMetrics(
  metrics: Metrics,
  bus: { readonly connected: boolean; readonly storage: Pick<Bus["storage"], "words"> },
  { host, port }: { readonly host: string; readonly port: number },
): Promise<{ port: number; close(): void }> {
  const server = createServer((request, response) => {
    const asked = request.method === "GET" ? request.url : undefined;
    if (asked === "/livez") response.writeHead(200).end("live\n");
    else if (asked === "/readyz" && !bus.connected) response.writeHead(503).end("no connection to NATS\n");
    else if (asked === "/readyz") response.writeHead(200).end(`ready${refusedWords(bus.storage.words())}\n`);
    else if (asked === "/metrics")
      void metrics.scrape().then(({ type, text }) => {
        response.writeHead(200, { "Content-Type": type }).end(text);
      });
    else response.writeHead(404).end();
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, host, resolve);
  });
  const address = server.address();
  server.unref();
  return {
    port: typeof address === "object" && address !== null ? address.port : port,
    close: () => server.close(),
  };
}

function refusedWords(refused: string | null): string {
  return refused === null ? "" : `, but JetStream has no space left: ${refused}`;
}
