/** Is the server safe, and is that known? A server that answers late is not one that answers "no". */
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

/** Answers the question in the server's place, from the `first` time on that it is asked. */
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

/** A monitoring endpoint that leaves all requests before the `first` one hanging, then says what the real one says. */
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

  it("and never answers: a code of its own that may be tried again, after a bounded time", async () => {
    const refused = answering(Infinity, true, () =>
      requireDurability(nc, { firstAnswerMs: 100, withinMs: 500 }),
    );
    await expect(refused).rejects.toMatchObject({
      code: "ANT_NATS_DURABILITY_UNKNOWN",
      disposition: "retry",
    });
  });
});

describe("an answer is taken as it is", () => {
  it("one that says it is unsafe ends the start at once, for good", async () => {
    const refused = answering(1, false, () => requireDurability(nc, soon));
    await expect(refused).rejects.toMatchObject({
      code: "ANT_NATS_UNSAFE_DURABILITY",
      disposition: "terminal",
    });
  });

  it("an account that may not ask, without a monitoring endpoint, is told so at once", async () => {
    const began = performance.now();
    await expect(requireDurability(nc, {})).rejects.toMatchObject({ code: "ANT_NATS_DURABILITY_UNKNOWN" });
    expect(performance.now() - began).toBeLessThan(1_500);
  });
});
