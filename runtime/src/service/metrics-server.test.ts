import { expect, test } from "vitest";
import { serveMetrics } from "./metrics-server.ts";
import { openMetrics } from "./metrics.ts";

test("a health check is answered without a scrape, is ready only while there is a connection, and tells of a full store", async () => {
  const metrics = await openMetrics("director");
  let scrapes = 0;
  const counted = { ...metrics, scrape: () => ((scrapes += 1), metrics.scrape()) };
  let connected = true;
  let refused: string | null = null;
  const bus = {
    get connected() {
      return connected;
    },
    storage: { words: () => refused },
  };
  const served = await serveMetrics(counted, bus, { host: "127.0.0.1", port: 0 });
  const say = (path: string): Promise<Response> => fetch(`http://127.0.0.1:${served.port}${path}`);
  const ask = async (path: string): Promise<number> => {
    const answer = await say(path);
    await answer.text();
    return answer.status;
  };
  try {
    expect([await ask("/livez"), await ask("/readyz"), await ask("/other")]).toEqual([200, 200, 404]);
    refused = "ANT_JOURNAL_0: insufficient storage resources available (10047)";
    const full = await say("/readyz");
    expect([full.status, await full.text()]).toEqual([
      200,
      `ready, but JetStream has no space left: ${refused}\n`,
    ]);
    connected = false;
    expect([await ask("/livez"), await ask("/readyz")]).toEqual([200, 503]);
    expect(scrapes).toBe(0);
    expect([await ask("/metrics"), scrapes]).toEqual([200, 1]);
  } finally {
    served.close();
  }
});
