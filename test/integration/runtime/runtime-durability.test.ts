/** Tests how a process learns whether its server is safe. A late answer is not an answer "no". */
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { connect, type NatsConnection } from "nats";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { requireDurability } from "../../../runtime/src/nats/durability.ts";
import { startNats, type NatsServer } from "../../support/nats.ts";

const QUESTION = "$SYS.REQ.SERVER.PING.JSZ";

let server: NatsServer;
let nc: NatsConnection;
beforeAll(async () => {
  server = await startNats({ tellsDurability: false });
  nc = await connect({ servers: server.url });
});
afterAll(async () => {
  await nc.close();
  await server.close();
});

/** Answers in the server's place, beginning with the question number `first`. */
async function answering<T>(first: number, syncAlways: boolean, work: () => Promise<T>): Promise<T> {
  let asked = 0;
  const { server_id } = nc.info!;
  const subscription = nc.subscribe(QUESTION, {
    callback: (error, message) => {
      if (error !== null) throw error;
      if ((asked += 1) < first) return;
      message.respond(JSON.stringify({ data: { server_id, config: { sync_always: syncAlways } } }));
    },
  });
  try {
    return await work();
  } finally {
    subscription.unsubscribe();
  }
}

/** A monitoring endpoint that leaves the requests before number `first` hanging, then passes on the real answer. */
async function slowMonitor<T>(first: number, work: (url: string) => Promise<T>): Promise<T> {
  let asked = 0;
  const real = async (path: string, response: ServerResponse): Promise<void> => {
    const answer = await fetch(new URL(path, server.monitorUrl));
    response.end(await answer.text());
  };
  const endpoint = createServer((request, response) => {
    if ((asked += 1) >= first) void real(request.url ?? "/", response);
  });
  await new Promise<void>((ready) => endpoint.listen(0, "127.0.0.1", ready));
  try {
    return await work(`http://127.0.0.1:${(endpoint.address() as AddressInfo).port}`);
  } finally {
    endpoint.closeAllConnections();
    await new Promise((done) => endpoint.close(done));
  }
}

const soon = { firstAnswerMs: 200, withinMs: 3_000 };

describe("a server that is slow to say whether it is safe", () => {
  it("is asked again over NATS until it answers", async () => {
    expect(await answering(3, true, () => requireDurability(nc, soon))).toBe("confirmed");
  });

  it("is asked again over its monitoring endpoint until it answers", async () => {
    const asked = slowMonitor(3, (monitorUrl) => requireDurability(nc, { ...soon, monitorUrl }));
    expect(await asked).toBe("confirmed");
  });

  it("ends with a retryable code of its own after a bounded time if it never answers", async () => {
    const refused = answering(Infinity, true, () =>
      requireDurability(nc, { firstAnswerMs: 100, withinMs: 500 }),
    );
    await expect(refused).rejects.toMatchObject({
      code: "ANT_NATS_DURABILITY_UNKNOWN",
      disposition: "retry",
    });
  });
});

describe("an answer about safety", () => {
  it("ends the start at once with a terminal error if it says unsafe", async () => {
    const refused = answering(1, false, () => requireDurability(nc, soon));
    await expect(refused).rejects.toMatchObject({
      code: "ANT_NATS_UNSAFE_DURABILITY",
      disposition: "terminal",
    });
  });

  it("is refused at once to an account that may not ask and has no monitoring endpoint", async () => {
    const began = performance.now();
    await expect(requireDurability(nc, {})).rejects.toMatchObject({ code: "ANT_NATS_DURABILITY_UNKNOWN" });
    expect(performance.now() - began).toBeLessThan(1_500);
  });
});
