/** Compares the JetStream model with the real server: the same requests get the same answers. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Bus } from "../../runtime/src/index.ts";
import { startNats, type NatsServer } from "../support/nats.ts";
import { onModel, onServer, type Program, type StreamShape } from "./differential/both.ts";
import { EXPECT } from "./differential/probe.ts";
import { randomProgram } from "./differential/random-program.ts";

let server: NatsServer;
let bus: Bus;
beforeAll(async () => {
  server = await startNats();
  bus = await server.connect();
});
afterAll(() => server.close());

let streams = 0;
/** Runs `program` on both and returns both transcripts. */
async function same(shape: Omit<StreamShape, "name">, program: (name: string) => Program): Promise<string> {
  streams += 1;
  const name = `D${streams}`;
  const [real, modelled] = await Promise.all([
    onServer(bus, { ...shape, name }, program(name)),
    onModel({ ...shape, name }, program(name)),
  ]);
  expect(modelled).toEqual(real);
  return real.join("\n");
}

const one = { consumers: [{ name: "c" }] };

describe("appending", () => {
  test("an empty register takes one record; a refusal names the existing record", async () => {
    const said = await same({}, (s) => async (p) => {
      await p.ask(`${s}.a`.toLowerCase(), "1", { [EXPECT]: "0" });
      await p.ask(`${s}.a`.toLowerCase(), "2", { [EXPECT]: "0" });
      await p.ask(`${s}.a`.toLowerCase(), "3", { [EXPECT]: "1" });
      await p.ask(`${s}.a`.toLowerCase(), "4", { [EXPECT]: "1" });
      await p.ask(`${s}.b`.toLowerCase(), "5", { [EXPECT]: "0" });
      await p.state(s);
    });
    expect(said).toContain('"err_code":10071');
  });

  test("the wildcard form of the expectation looks at all subjects it names", async () => {
    const filter = "Nats-Expected-Last-Subject-Sequence-Subject";
    await same({}, (s) => async (p) => {
      const at = (name: string): string => `${s}.${name}`.toLowerCase();
      await p.ask(at("run.one.x"), "1", { [EXPECT]: "0", [filter]: at("run.one.>") });
      await p.ask(at("run.one.y"), "2", { [EXPECT]: "0", [filter]: at("run.one.>") });
      await p.ask(at("run.one.y"), "3", { [EXPECT]: "1", [filter]: at("run.one.>") });
      await p.ask(at("run.two.x"), "4", { [EXPECT]: "0", [filter]: at("run.two.*") });
    });
  });

  test("a known message id is answered with the first one's sequence and stored once", async () => {
    const said = await same({}, (s) => async (p) => {
      const at = `${s}.a`.toLowerCase();
      await p.ask(at, "1", { "Nats-Msg-Id": "x" });
      await p.ask(at, "2", { "Nats-Msg-Id": "x" });
      await p.ask(at, "3", { "Nats-Msg-Id": "x", [EXPECT]: "0" });
      await p.state(s);
    });
    expect(said).toContain('"duplicate":true');
  });

  test("the whole stream's expectations: last sequence and name", async () => {
    await same({}, (s) => async (p) => {
      const at = `${s}.a`.toLowerCase();
      await p.ask(at, "1", { "Nats-Expected-Last-Sequence": "0" });
      await p.ask(at, "2", { "Nats-Expected-Last-Sequence": "0" });
      await p.ask(at, "3", { "Nats-Expected-Stream": "OTHER" });
      await p.ask(at, "4", { "Nats-Expected-Stream": s });
    });
  });

  test("a full stream refuses new messages and keeps the old ones", async () => {
    const said = await same({ maxBytes: 400 }, (s) => async (p) => {
      for (let i = 0; i < 5; i += 1)
        await p.ask(`${s}.a${i}`.toLowerCase(), "x".repeat(60), { [EXPECT]: "0" });
      await p.state(s);
    });
    expect(said).toContain('"err_code":10077');
  });

  test("a message beyond the stream's bound is refused", async () => {
    const said = await same({ maxMessageBytes: 100 }, (s) => async (p) => {
      await p.ask(`${s}.a`.toLowerCase(), "x".repeat(80));
      await p.ask(`${s}.a`.toLowerCase(), "x".repeat(101));
      await p.ask(`${s}.a`.toLowerCase(), "x".repeat(60), { "X-Long": "y".repeat(60) });
    });
    expect(said).toContain('"err_code":10054');
  });

  test("one message per subject: a new one removes the older one", async () => {
    await same({ perSubject: 1 }, (s) => async (p) => {
      await p.ask(`${s}.a`.toLowerCase(), "1");
      await p.ask(`${s}.b`.toLowerCase(), "2");
      await p.ask(`${s}.a`.toLowerCase(), "3", { [EXPECT]: "1" });
      await p.ask(`${s}.a`.toLowerCase(), "4", { [EXPECT]: "1" });
      await p.state(s);
    });
  });
});

describe("atomic batches", () => {
  test("a batch is stored as a whole, under one acknowledgement with the last sequence", async () => {
    await same({}, (s) => async (p) => {
      const at = (name: string): string => `${s}.${name}`.toLowerCase();
      await p.ask(at("before"), "0");
      await p.batch("b1", [[at("a"), { [EXPECT]: "0" }], [at("b"), { [EXPECT]: "0" }], [at("c")]]);
      await p.series(s, { multi_last: [`${s.toLowerCase()}.>`] });
    });
  });

  test("a stale expectation refuses all of it (10071)", async () => {
    const said = await same({}, (s) => async (p) => {
      const at = (name: string): string => `${s}.${name}`.toLowerCase();
      await p.ask(at("b"), "there", { [EXPECT]: "0" });
      await p.batch("b1", [
        [at("a"), { [EXPECT]: "0" }],
        [at("b"), { [EXPECT]: "0" }],
        [at("c"), { [EXPECT]: "0" }],
      ]);
      await p.state(s);
    });
    expect(said).toContain('"err_code":10071');
  });

  test("one duplicate id refuses all of it (10201)", async () => {
    const said = await same({}, (s) => async (p) => {
      const at = (name: string): string => `${s}.${name}`.toLowerCase();
      await p.ask(at("x"), "there", { "Nats-Msg-Id": "one" });
      await p.batch("b1", [
        [at("a"), { "Nats-Msg-Id": "two" }],
        [at("b"), { "Nats-Msg-Id": "one" }],
      ]);
      await p.batch("b2", [
        [at("a"), { "Nats-Msg-Id": "three" }],
        [at("b"), { "Nats-Msg-Id": "three" }],
      ]);
      await p.state(s);
    });
    expect(said).toContain('"err_code":10201');
  });

  test("the wildcard form looks at stored messages, not at earlier members of the batch", async () => {
    const filter = "Nats-Expected-Last-Subject-Sequence-Subject";
    await same({}, (s) => async (p) => {
      const at = (name: string): string => `${s}.${name}`.toLowerCase();
      const run = { [EXPECT]: "0", [filter]: at("one.>") };
      await p.batch("b1", [
        [at("one.x"), run],
        [at("one.x"), run],
        [at("one.y"), run],
      ]);
      await p.state(s);
      await p.batch("b2", [[at("two.x")], [at("two.y"), { [EXPECT]: "0", [filter]: at("two.>") }]]);
      await p.batch("b3", [[at("three")], [at("three.y"), { [EXPECT]: "0", [filter]: at("three") }]]);
      await p.state(s);
    });
  });

  test("two members on one empty register refuse all of it", async () => {
    await same({}, (s) => async (p) => {
      const at = `${s}.a`.toLowerCase();
      await p.batch("b1", [
        [at, { [EXPECT]: "0" }],
        [at, { [EXPECT]: "0" }],
      ]);
      await p.state(s);
    });
  });

  test("a missing member, or a batch that was never begun, refuses the commit", async () => {
    await same({}, (s) => async (p) => {
      const at = `${s}.a`.toLowerCase();
      const member = (id: string, n: number): Record<string, string> => ({
        "Nats-Batch-Id": id,
        "Nats-Batch-Sequence": String(n),
      });
      p.say(at, "1", member("gap", 1));
      await p.ask(at, "3", { ...member("gap", 3), "Nats-Batch-Commit": "1" });
      await p.ask(at, "2", { ...member("never", 2), "Nats-Batch-Commit": "1" });
      await p.ask(at, "1", { "Nats-Batch-Id": "none", "Nats-Batch-Commit": "1" });
      await p.ask(at, "1", { ...member("odd", 1), "Nats-Batch-Commit": "yes" });
      await p.state(s);
    });
  });

  test("a stream without batches refuses one", async () => {
    const said = await same({ atomic: false }, (s) => async (p) => {
      await p.batch("b1", [[`${s}.a`.toLowerCase()], [`${s}.b`.toLowerCase()]]);
      await p.state(s);
    });
    expect(said).toContain('"err_code":10174');
  });
});

describe("reading", () => {
  test("direct get: the last of a subject, of many, from a sequence on, page by page, and nothing", async () => {
    await same({}, (s) => async (p) => {
      const all = `${s.toLowerCase()}.>`;
      for (let i = 0; i < 7; i += 1) await p.ask(`${s}.${i % 4}.x`.toLowerCase(), `m${i}`);
      await p.last(s, `${s}.1.x`.toLowerCase());
      await p.last(s, `${s}.none`.toLowerCase());
      await p.series(s, { multi_last: [all] });
      await p.series(s, { multi_last: [all], seq: 5 });
      await p.series(s, { multi_last: [all], seq: 50 });
      await p.series(s, { multi_last: [`${s}.*.x`.toLowerCase()] });
      await p.series(s, { multi_last: [`${s}.none.>`.toLowerCase()] });
      await p.series(s, { next_by_subj: all, seq: 2, batch: 3 });
      await p.series(s, { next_by_subj: `${s}.1.x`.toLowerCase(), seq: 1, batch: 9 });
      await p.series(s, { next_by_subj: `${s}.none`.toLowerCase(), seq: 1, batch: 9 });
    });
  });

  test("more than 1,024 subjects at once are refused, not cut short", async () => {
    const said = await same({}, (s) => async (p) => {
      const rows = (n: number): [string][] =>
        Array.from({ length: 205 }, (_, i) => [`${s}.${n}.${i}`.toLowerCase()]);
      for (let n = 0; n < 5; n += 1) await p.batch(`b${n}`, rows(n));
      await p.series(s, { multi_last: [`${s.toLowerCase()}.>`] });
    });
    expect(said).toContain("413");
  });

  test("the leader's own read, and a subject that holds nothing", async () => {
    await same({}, (s) => async (p) => {
      const at = `${s}.a`.toLowerCase();
      await p.ask(at, "1");
      await p.ask(`$JS.API.STREAM.MSG.GET.${s}`, JSON.stringify({ last_by_subj: at }));
      await p.ask(`$JS.API.STREAM.MSG.GET.${s}`, JSON.stringify({ last_by_subj: `${at}b` }));
    });
  });

  test("purge by subject, below a sequence, and all but the newest", async () => {
    await same({}, (s) => async (p) => {
      const at = (name: string): string => `${s}.${name}`.toLowerCase();
      for (let i = 0; i < 8; i += 1) await p.ask(at(i % 2 === 0 ? "a.x" : "b.x"), `m${i}`);
      await p.ask(`$JS.API.STREAM.PURGE.${s}`, JSON.stringify({ filter: at("a.>"), keep: 1 }));
      await p.state(s);
      await p.ask(`$JS.API.STREAM.PURGE.${s}`, JSON.stringify({ filter: at("b.x"), seq: 5 }));
      await p.state(s);
      await p.ask(at("b.x"), "after", { [EXPECT]: "0" });
      await p.ask(`$JS.API.STREAM.PURGE.${s}`, JSON.stringify({ filter: at("b.x") }));
      await p.ask(at("b.x"), "empty again", { [EXPECT]: "0" });
      await p.state(s);
    });
  });
});

describe("consuming", () => {
  test("a consumer sees its filters only, in stream order, and knows how many are left", async () => {
    const consumers = (s: string) => [{ name: "c", filters: [`${s}.a.*`, `${s}.b.*`] }];
    streams += 1;
    const name = `D${streams}`;
    const shape = { name, consumers: consumers(name.toLowerCase()) };
    const program: Program = async (p) => {
      for (const word of ["a.1", "x.1", "b.1", "a.2", "x.2"])
        await p.ask(`${name}.${word}`.toLowerCase(), word);
      await p.pull(name, "c", 2);
      await p.pull(name, "c", 2);
    };
    expect(await onModel(shape, program)).toEqual(await onServer(bus, shape, program));
  });

  test("a message that is handed back comes at once, before new ones, with a higher count", async () => {
    await same(one, (s) => async (p) => {
      for (let i = 0; i < 4; i += 1) await p.ask(`${s}.${i}`.toLowerCase(), `m${i}`);
      const [first, second] = await p.pull(s, "c", 2);
      await p.settle(second, "-NAK");
      await p.settle(first, "-NAK");
      await p.pull(s, "c", 3);
    });
  });

  test("a message that is handed back with a delay comes after it, and a heartbeat cancels the delay", async () => {
    await same({ consumers: [{ name: "c", ackWaitMs: 1_500 }] }, (s) => async (p) => {
      await p.ask(`${s}.a`.toLowerCase(), "m");
      const [first] = await p.pull(s, "c", 1);
      await p.settle(first, '-NAK {"delay":200000000}');
      await p.pull(s, "c", 1, { noWait: true });
      const [second] = await p.pull(s, "c", 1, { expiresS: 3 });
      await p.settle(second, '-NAK {"delay":200000000}');
      await p.settle(first, "+WPI");
      await p.pull(s, "c", 1, { expiresS: 0.8 });
      await p.pull(s, "c", 1, { expiresS: 3 });
    });
  });

  test("an expired ack wait redelivers the record, oldest first; a heartbeat prevents that", async () => {
    await same({ consumers: [{ name: "c", ackWaitMs: 1_000 }] }, (s) => async (p) => {
      for (let i = 0; i < 2; i += 1) await p.ask(`${s}.${i}`.toLowerCase(), `m${i}`);
      const [first, second] = await p.pull(s, "c", 2);
      await p.pull(s, "c", 1, { expiresS: 0.6 });
      await p.settle(second, "+WPI");
      await p.pull(s, "c", 1, { expiresS: 3 });
      await p.settle(first, "+ACK");
      await p.pull(s, "c", 1, { expiresS: 3 });
    });
  });

  test("an acknowledgement is not fenced: the first delivery's late one settles the second", async () => {
    await same(one, (s) => async (p) => {
      await p.ask(`${s}.a`.toLowerCase(), "m");
      const [first] = await p.pull(s, "c", 1);
      await p.settle(first, "-NAK");
      const [second] = await p.pull(s, "c", 1);
      await p.settle(first, "+ACK");
      await p.settle(second, "-NAK");
      await p.pull(s, "c", 1);
    });
  });

  test("a terminated message never comes again", async () => {
    await same({ consumers: [{ name: "c", ackWaitMs: 300 }] }, (s) => async (p) => {
      await p.ask(`${s}.a`.toLowerCase(), "m");
      const [first] = await p.pull(s, "c", 1);
      await p.settle(first, "+TERM poison");
      await p.pull(s, "c", 1, { expiresS: 0.8 });
    });
  });

  test("at the bound of unacknowledged records only redeliveries are delivered", async () => {
    await same({ consumers: [{ name: "c", maxAckPending: 2 }] }, (s) => async (p) => {
      for (let i = 0; i < 4; i += 1) await p.ask(`${s}.${i}`.toLowerCase(), `m${i}`);
      const [first, second] = await p.pull(s, "c", 3);
      await p.settle(first, "-NAK");
      await p.pull(s, "c", 2);
      await p.settle(second, "+ACK");
      await p.pull(s, "c", 2);
    });
  });

  test("a consumer that gives up after two deliveries stays silent", async () => {
    await same({ consumers: [{ name: "c", maxDeliver: 2 }] }, (s) => async (p) => {
      await p.ask(`${s}.a`.toLowerCase(), "m");
      for (let i = 0; i < 3; i += 1) {
        const [got] = await p.pull(s, "c", 1);
        await p.settle(got, "-NAK");
      }
    });
  });

  test("a pull that finds nothing is answered at once, or when it expires", async () => {
    await same(one, (s) => async (p) => {
      await p.pull(s, "c", 1, { noWait: true });
      await p.pull(s, "c", 2);
      await p.ask(`${s}.a`.toLowerCase(), "m");
      await p.pull(s, "c", 5, { noWait: true });
    });
  });

  test("a purged message is neither delivered nor redelivered", async () => {
    await same(one, (s) => async (p) => {
      for (let i = 0; i < 3; i += 1) await p.ask(`${s}.${i}`.toLowerCase(), `m${i}`);
      const [first] = await p.pull(s, "c", 1);
      await p.ask(`$JS.API.STREAM.PURGE.${s}`, JSON.stringify({ filter: `${s}.0`.toLowerCase() }));
      await p.ask(`$JS.API.STREAM.PURGE.${s}`, JSON.stringify({ filter: `${s}.1`.toLowerCase() }));
      await p.settle(first, "-NAK");
      await p.pull(s, "c", 2);
    });
  });
});

describe("schedules", () => {
  test("a schedule publishes its payload to the target at its time, and is then gone", async () => {
    const at = new Date(Date.UTC(2020, 0, 1)).toISOString();
    await same({ schedules: true, ...one }, (s) => async (p) => {
      const [timer, due] = [`${s}.timer.1`.toLowerCase(), `${s}.due.1`.toLowerCase()];
      await p.ask(timer, "ring", { "Nats-Schedule": `@at ${at}`, "Nats-Schedule-Target": due });
      const seen = [
        ...(await p.pull(s, "c", 1, { expiresS: 3 })),
        ...(await p.pull(s, "c", 1, { expiresS: 3 })),
      ];
      p.note(`${seen.length} deliveries`);
      await p.series(s, { multi_last: [`${s.toLowerCase()}.>`] });
    });
  });

  test("a stream without schedules, an invalid pattern, and a target that is the schedule itself are refused", async () => {
    const future = { "Nats-Schedule": "@at 2099-01-01T00:00:00Z" };
    const asks =
      (s: string): Program =>
      async (p) => {
        const at = `${s}.timer`.toLowerCase();
        await p.ask(at, "1", { ...future, "Nats-Schedule-Target": `${s}.due`.toLowerCase() });
        await p.ask(at, "2", {
          "Nats-Schedule": "tomorrow",
          "Nats-Schedule-Target": `${s}.due`.toLowerCase(),
        });
        await p.ask(at, "3", { ...future, "Nats-Schedule-Target": at });
        await p.ask(at, "4", future);
      };
    await same({}, asks);
    await same({ schedules: true }, asks);
  });
});

describe("random programs", () => {
  test.each(Array.from({ length: 20 }, (_, i) => i + 1))(
    "program %i gets the same answers from both",
    async (seed) => {
      await same({ ...one, perSubject: seed % 3 === 0 ? 1 : -1 }, (s) => randomProgram(seed, s));
    },
  );
});
