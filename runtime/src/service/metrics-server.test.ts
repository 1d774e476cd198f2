import { expect, test } from "vitest";
import { serveMetrics } from "./metrics-server.ts";
import { openMetrics } from "./metrics.ts";

test("a health check is answered without a scrape, and is ready only while there is a connection", async () => {
  const metrics = await openMetrics("director");
  let scrapes = 0;
  const counted = { ...metrics, scrape: () => ((scrapes += 1), metrics.scrape()) };
  let connected = true;
  const served = await serveMetrics(counted, () => connected, { host: "127.0.0.1", port: 0 });
  const ask = async (path: string): Promise<number> => {
    const answer = await fetch(`http://127.0.0.1:${served.port}${path}`);
    await answer.text();
    return answer.status;
  };
  try {
    expect([await ask("/livez"), await ask("/readyz"), await ask("/other")]).toEqual([200, 200, 404]);
    connected = false;
    expect([await ask("/livez"), await ask("/readyz")]).toEqual([200, 503]);
    expect(scrapes).toBe(0);
    expect([await ask("/metrics"), scrapes]).toEqual([200, 1]);
  } finally {
    served.close();
  }
});
