import { createServer } from "node:http";
import type { Metrics } from "./metrics.ts";

/** Serves `/metrics` to Prometheus; returns how to stop. Port 0 picks a free one. */
export async function serveMetrics(
  metrics: Metrics,
  { host, port }: { readonly host: string; readonly port: number },
): Promise<{ port: number; close(): void }> {
  const server = createServer((request, response) => {
    if (request.method !== "GET" || request.url !== "/metrics") {
      response.writeHead(404).end();
      return;
    }
    void metrics.scrape().then(({ type, text }) => {
      response.writeHead(200, { "Content-Type": type }).end(text);
    });
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
