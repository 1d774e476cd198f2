import type { Server, Socket } from "node:net";
import { connect as dial, createServer } from "node:net";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Bus } from "../../../runtime/src/index.ts";
import {
  consume,
  createLogger,
  openBlobs,
  openJournal,
  openKv,
  provision,
} from "../../../runtime/src/index.ts";
import { claimRecord, dispatchRecord } from "../../../contracts/src/testing/records.ts";
import type { NatsServer } from "../../support/nats.ts";
import { eventually, startNats } from "../../support/nats.ts";

/** A connection between client and server that can be cut, or go deaf in one direction, at any byte. */
class Line {
  private readonly server: Server;
  private readonly pairs = new Set<{ client: Socket; upstream: Socket }>();
  private deaf = false;
  cuts = 0;

  private constructor(server: Server) {
    this.server = server;
  }

  static async to(port: number): Promise<{ line: Line; url: string }> {
    const server = createServer();
    const line = new Line(server);
    server.on("connection", (client) => line.join(client, port));
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const address = server.address();
    return {
      line,
      url: `nats://127.0.0.1:${typeof address === "object" && address !== null ? address.port : 0}`,
    };
  }

  private join(client: Socket, port: number): void {
    const upstream = dial(port, "127.0.0.1");
    const pair = { client, upstream };
    this.pairs.add(pair);
    const end = (): void => {
      client.destroy();
      upstream.destroy();
      this.pairs.delete(pair);
    };
    for (const socket of [client, upstream]) socket.on("error", end).on("close", end);
    client.on("data", (data) => upstream.write(data));
    upstream.on("data", (data) => {
      if (!this.deaf) client.write(data);
    });
  }

  /** The server hears us, but we do not hear the server: every acknowledgement is lost. */
  loseAnswers(): void {
    this.deaf = true;
  }

  /** Cuts every connection; new ones work in both directions. */
  cut(): void {
    this.cuts += 1;
    for (const { client, upstream } of [...this.pairs]) {
      client.destroy();
      upstream.destroy();
    }
    this.deaf = false;
  }

  async close(): Promise<void> {
    this.cut();
    await new Promise((resolve) => this.server.close(resolve));
  }
}

let server: NatsServer;
let line: Line;
let bus: Bus;
let direct: Bus;

beforeEach(async () => {
  server = await startNats();
  direct = await server.connect();
  await provision(direct);
  const joined = await Line.to(server.port);
  line = joined.line;
  bus = await server.connect({ servers: joined.url });
});

afterEach(async () => {
  await server.close();
  await line.close();
});

describe("over a line that breaks", () => {
  it("recognises its own stored records after lost acknowledgements and a cut", async () => {
    const journal = openJournal(bus);
    await journal.append(dispatchRecord("run_deaf", "T-warm", 1));
    line.loseAnswers();
    const appends = Array.from({ length: 200 }, (_, i) =>
      journal.append(dispatchRecord("run_deaf", `T-${i}`, 1)),
    );
    const stored = async () => (await openJournal(direct).read("run_deaf")).length;
    await eventually("the server has some of them", async () => (await stored()) > 1);
    line.cut();
    const results = await Promise.all(appends);
    expect(results.filter((result) => result.kind === "conflict")).toEqual([]);
    expect(results.filter((result) => result.kind === "duplicate").length).toBeGreaterThan(0);
    expect(await stored()).toBe(201);
  });

  it("runtime/J2: racing writers on a line cut again and again: one winner each, nothing lost or doubled", async () => {
    const [here, there] = [openJournal(bus), openJournal(direct)];
    const total = 1500;
    let done = false;
    const cutting = (async () => {
      for (let wait = 60; !done; wait = 60 + ((wait * 7) % 150)) {
        await new Promise((resolve) => setTimeout(resolve, wait));
        if (line.cuts % 3 === 2) {
          line.loseAnswers();
          await new Promise((resolve) => setTimeout(resolve, 10));
        }
        line.cut();
      }
    })();
    const race = async (i: number) => {
      // The other side writes only every fifth register, so that both outcomes are common.
      const mine = here.append(claimRecord("run_race", `T-${i}`, 1, "as_here"));
      const theirs = i % 5 === 0 ? there.append(claimRecord("run_race", `T-${i}`, 1, "as_there")) : null;
      return { i, mine: await mine, theirs: theirs === null ? null : await theirs };
    };
    const results: Awaited<ReturnType<typeof race>>[] = [];
    try {
      for (let from = 0; from < total; from += 250) {
        results.push(...(await Promise.all(Array.from({ length: 250 }, (_, k) => race(from + k)))));
      }
    } finally {
      done = true;
      await cutting;
    }
    expect(line.cuts).toBeGreaterThan(2);
    const log = new Map((await there.read("run_race")).map((record) => [record.subject, record]));
    expect(log.size).toBe(total);
    for (const { i, mine, theirs } of results) {
      const record = log.get(`antiphon.v1.run.0.claim.run_race.t-${i}.1`);
      const winner = (record?.body as { associate: string } | undefined)?.associate;
      expect(mine.kind === "conflict" ? "as_there" : "as_here").toBe(winner);
      if (theirs !== null) expect(theirs.kind === "conflict" ? "as_here" : "as_there").toBe(winner);
    }
  });

  it("a consumer handles every record, and none waits for an ack wait", async () => {
    const seen = new Set<string>();
    const stop = new AbortController();
    const log = createLogger("test", { level: "silent" });
    const handle = async ({ record }: { record: { taskId: string | null } }) => {
      seen.add(record.taskId ?? "");
      return await Promise.resolve({ kind: "done" as const });
    };
    consume(bus, { consumer: "associate", slots: 4, log, signal: stop.signal, handle });
    let back = 0;
    const forget = bus.onConnectivity((up) => (back += up ? 1 : 0));
    const journal = openJournal(direct);
    for (let i = 0; i < 30; i += 1) {
      await journal.append(dispatchRecord("run_cut", `T-${i}`, 1));
      if (i % 5 === 4) {
        await eventually("caught up", () => seen.size === i + 1, 5000);
        const before = back;
        line.cut();
        // Deliveries to a connection that the server does not know to be dead yet are lost until the ack wait ends.
        await eventually("the line is back", () => back > before, 5000);
      }
    }
    await eventually("all are handled", () => seen.size === 30, 5000);
    forget();
    stop.abort();
  });

  it("objects and documents survive cuts in the middle of their writes", async () => {
    const blobs = openBlobs(bus, "ANT_EVIDENCE_FILES");
    const kv = openKv(bus, "ANT_RUNS");
    const bytes = Buffer.alloc(6 * 1024 * 1024, 3);
    const put = blobs.put("cut", bytes);
    await eventually("chunks are on their way", () => bus.publisherStats().singles > 8);
    line.cut();
    const ref = await put;
    expect((await blobs.get(ref)).equals(bytes)).toBe(true);
    line.loseAnswers();
    const created = kv.create("run_cut", { n: 1 });
    await eventually(
      "the server has it",
      async () => (await openKv(direct, "ANT_RUNS").get("run_cut")) !== null,
    );
    line.cut();
    expect(await created).toBe(true); // refused on the second try, recognised by its write id
    expect(await kv.create("run_cut", { n: 1 })).toBe(false);
  });
});
