import { createInbox, type Msg } from "@nats-io/nats-core";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Bus, Consumption, Delivery, Journal, Outcome } from "../../../runtime/src/index.ts";
import { consume, createLogger, openJournal, provision } from "../../../runtime/src/index.ts";
import { PullLoop } from "../../../runtime/src/work/pull-loop.ts";
import { Semaphore } from "../../../runtime/src/work/semaphore.ts";
import { dispatchRecord, intentRecord, resultRecord } from "../../../contracts/src/testing/records.ts";
import { decode } from "../../../contracts/src/index.ts";
import type { DeadLetter } from "../../../contracts/src/index.ts";
import type { NatsServer } from "../../support/nats.ts";
import { eventually, startNats } from "../../support/nats.ts";

let server: NatsServer;
let bus: Bus;
let journal: Journal;
let stop: AbortController;
const log = createLogger("test", { level: "silent" });

beforeEach(async () => {
  server = await startNats();
  bus = await server.connect();
  await provision(bus);
  journal = openJournal(bus);
  stop = new AbortController();
});

afterEach(async () => {
  stop.abort();
  await server.close();
});

function work(
  handle: (delivery: Delivery) => Promise<Outcome>,
  options: { slots?: number; on?: Bus; poisonAfter?: number; killerAfter?: number; ackWaitMs?: number } = {},
): Consumption {
  return consume(options.on ?? bus, {
    consumer: "associate",
    slots: options.slots ?? 1,
    log,
    signal: stop.signal,
    handle,
    ...(options.poisonAfter === undefined ? {} : { poisonAfter: options.poisonAfter }),
    ...(options.killerAfter === undefined ? {} : { killerAfter: options.killerAfter }),
    ...(options.ackWaitMs === undefined ? {} : { ackWaitMs: options.ackWaitMs }),
  });
}

async function shortenAckWait(ms: number): Promise<void> {
  await bus.jsm.consumers.update("ANT_JOURNAL_0", "associate", { ack_wait: ms * 1_000_000 });
}

const consumerInfo = () => bus.jsm.consumers.info("ANT_JOURNAL_0", "associate");
const deadLetters = async () =>
  Object.keys((await bus.jsm.streams.info("ANT_DLQ", { subjects_filter: ">" })).state.subjects ?? {});

describe("consuming the journal", () => {
  it("delivers the records of its filter once, and leaves nothing unacknowledged", async () => {
    const seen: string[] = [];
    work(
      async ({ record }) => {
        seen.push(`${record.type} ${record.taskId}`);
        return { kind: "done" };
      },
      { slots: 8 },
    );
    await journal.append(intentRecord("run_one"));
    await Promise.all(
      Array.from({ length: 50 }, (_, i) => journal.append(dispatchRecord("run_one", `T-${i}`, 1))),
    );
    await eventually("all are handled", () => seen.length >= 50);
    await eventually("all are acknowledged", async () => {
      const info = await consumerInfo();
      return info.num_ack_pending === 0 && info.num_pending === 0;
    });
    expect(new Set(seen).size).toBe(50);
    expect(seen).toHaveLength(50);
  });

  it("holds no more deliveries than it has slots; a second worker gets the rest at once", async () => {
    const holding: string[] = [];
    const release: (() => void)[] = [];
    const slow = (who: string) => async () => {
      holding.push(who);
      await new Promise<void>((resolve) => release.push(resolve));
      return { kind: "done" as const };
    };
    work(slow("one"));
    for (let i = 0; i < 4; i += 1) await journal.append(dispatchRecord("run_slots", `T-${i}`, 1));
    await eventually("the first worker is busy", () => holding.length === 1);
    expect((await consumerInfo()).num_ack_pending).toBe(1);
    work(slow("two"), { slots: 2, on: await server.connect() });
    await eventually("the second worker has the next two", () => holding.length === 3);
    expect((await consumerInfo()).num_ack_pending).toBe(3);
    expect(holding).toEqual(["one", "two", "two"]);
    await eventually("everything was handled", () => {
      for (const done of release.splice(0)) done();
      return holding.length === 4;
    });
    for (const done of release.splice(0)) done();
  });

  it("prefers one reader for a Director's deliveries; overflow goes to the next, and all go there when it dies", async () => {
    const seen: string[] = [];
    const release: (() => void)[] = [];
    const readers = new Map<string, Bus>();
    const read = async (who: string): Promise<void> => {
      readers.set(who, await server.connect());
      consume(readers.get(who) ?? bus, {
        consumer: "director",
        slots: 3,
        log,
        signal: stop.signal,
        handle: async () => {
          seen.push(who);
          await new Promise<void>((resolve) => release.push(resolve));
          return { kind: "done" };
        },
      });
    };
    const next = async (n: number): Promise<string | undefined> => {
      await journal.append(intentRecord(`run_turn${n}`));
      await eventually(`${n} is seen`, () => seen.length === n);
      return seen.at(-1);
    };
    // Priorities are drawn from ten, so readers are added until two of them differ.
    for (const who of ["a", "b", "c", "d", "e"]) await read(who);
    await eventually("all are asking", async () => {
      const info = await bus.jsm.consumers.info("ANT_JOURNAL_0", "director");
      return info.num_waiting === readers.size;
    });
    const first = await next(1);
    let n = 1;
    for (; n < 15;) await next(++n); // No handler ends, so each reader gets three, one after the other.
    expect([...new Set(seen)].sort()).toEqual(["a", "b", "c", "d", "e"]);
    for (const who of readers.keys()) expect(seen.filter((one) => one === who)).toHaveLength(3);
    for (const done of release.splice(0)) done();
    await readers.get(first ?? "")?.nc.close();
    expect(await next(16)).not.toBe(first);
    for (const done of release.splice(0)) done();
  });

  it("keeps the delivery of a handler that takes longer than the ack wait", async () => {
    await shortenAckWait(2_000);
    const seen: number[] = [];
    const worker = work(
      async ({ deliveries }) => {
        seen.push(deliveries);
        await new Promise((resolve) => setTimeout(resolve, 6_500)); // longer than three ack waits
        return { kind: "done" };
      },
      { slots: 2, ackWaitMs: 2_000 },
    );
    await journal.append(dispatchRecord("run_long", "T-1", 1));
    await eventually("it is being handled", () => worker.busy === 1);
    await eventually("it is acknowledged", async () => (await consumerInfo()).num_ack_pending === 0);
    expect(seen).toEqual([1]);
  });

  it("control: without working() the server redelivers to another worker", async () => {
    await shortenAckWait(600);
    const seen: number[] = [];
    work(
      async ({ deliveries }) => {
        seen.push(deliveries);
        await new Promise((resolve) => setTimeout(resolve, 1500));
        return { kind: "done" };
      },
      { slots: 2, ackWaitMs: 60_000 },
    );
    await journal.append(dispatchRecord("run_lapse", "T-1", 1));
    await eventually("it was delivered twice", () => seen.length >= 2);
    expect(seen.slice(0, 2)).toEqual([1, 2]);
  });

  it("delivers a retry after its delay, with a higher delivery count", async () => {
    const seen: { deliveries: number; at: number }[] = [];
    work(async ({ deliveries }) => {
      seen.push({ deliveries, at: performance.now() });
      return deliveries < 3 ? { kind: "retry", delayMs: 200 } : { kind: "done" };
    });
    await journal.append(dispatchRecord("run_retry", "T-1", 1));
    await eventually("three deliveries", () => seen.length === 3);
    expect(seen.map((one) => one.deliveries)).toEqual([1, 2, 3]);
    expect((seen[1]?.at ?? 0) - (seen[0]?.at ?? 0)).toBeGreaterThanOrEqual(195);
  });

  it("runtime/J5: a terminal outcome is stored as a dead letter, then terminated", async () => {
    work(async () => ({ kind: "terminal", code: "ANT_TASK_POISON", detail: "it cannot be done" }));
    const stored = await journal.append(dispatchRecord("run_dead", "T-1", 3));
    await eventually("the dead letter is there", async () => (await deadLetters()).length === 1);
    await eventually("the delivery is ended", async () => (await consumerInfo()).num_ack_pending === 0);
    const [subject] = await deadLetters();
    expect(subject).toBe("antiphon.v1.dlq.associate.dispatch.run_dead.t-1.3");
    const message = await bus.reader.last("ANT_DLQ", subject ?? "");
    const letter = decode(message?.data ?? new Uint8Array()) as DeadLetter;
    expect(letter).toMatchObject({ consumer: "associate", code: "ANT_TASK_POISON", deliveries: 1 });
    expect(stored.kind === "appended" && letter.origin.seq === stored.record.seq).toBe(true);
  });

  it("runtime/J5: a record whose handler keeps throwing becomes a dead letter; its neighbours are handled", async () => {
    const handled: string[] = [];
    work(
      async ({ record }) => {
        if (record.taskId === "T-1") throw new Error("boom");
        handled.push(record.taskId ?? "");
        return { kind: "done" };
      },
      { slots: 2, poisonAfter: 2 },
    );
    await journal.append(dispatchRecord("run_poison", "T-1", 1));
    await journal.append(dispatchRecord("run_poison", "T-2", 1));
    await eventually("the neighbour is handled", () => handled.length === 1);
    await eventually("the poison is buried", async () => (await deadLetters()).length === 1);
  });

  it("runtime/J5: a record that keeps crashing workers is buried unread; one handed back as often is not", async () => {
    const handled: number[] = [];
    const killer = { killerAfter: 2 };
    const patient = work(async ({ deliveries }) => {
      handled.push(deliveries);
      return deliveries < 5
        ? { kind: "retry", delayMs: 0, code: "ANT_DOCKER_UNREACHABLE" }
        : { kind: "done" };
    }, killer);
    await journal.append(dispatchRecord("run_patient", "T-1", 1));
    await eventually("it is done at last", () => handled.length === 5);
    await patient.drain();
    // Three workers that took it and never answered.
    await journal.append(dispatchRecord("run_killer", "T-1", 1));
    await shortenAckWait(300);
    const taken: Msg[] = [];
    const options = { stream: "ANT_JOURNAL_0", consumer: "associate", slots: 3, log };
    const loop = new PullLoop(
      bus,
      { ...options, onMessage: (message) => Promise.resolve(void taken.push(message)) },
      createInbox(),
    );
    await eventually("three had it", () => taken.length === 3);
    loop.stop();
    await loop.idleSlots();
    loop.close();
    work(async ({ deliveries }) => {
      handled.push(deliveries);
      return { kind: "done" };
    }, killer);
    await eventually("it is buried", async () => (await deadLetters()).length === 1);
    expect(handled).toEqual([1, 2, 3, 4, 5]);
    expect(await deadLetters()).toEqual(["antiphon.v1.dlq.associate.dispatch.run_killer.t-1.1"]);
  });

  it("handles a record that was delivered too often if its work is under way, and buries its neighbour", async () => {
    const handled: (string | null)[] = [];
    await shortenAckWait(300);
    for (const task of ["T-1", "T-2"]) await journal.append(dispatchRecord("run_held", task, 1));
    const taken: Msg[] = [];
    const options = { stream: "ANT_JOURNAL_0", consumer: "associate", slots: 4, log };
    const onMessage = (message: Msg) => Promise.resolve(void taken.push(message));
    const loop = new PullLoop(bus, { ...options, onMessage }, createInbox());
    await eventually("both were had twice", () => taken.length >= 4);
    loop.stop();
    await loop.idleSlots();
    loop.close();
    consume(bus, {
      consumer: "associate",
      slots: 2,
      log,
      signal: stop.signal,
      killerAfter: 1,
      isHeld: async ({ taskId }) => taskId === "T-1",
      handle: async ({ record }) => {
        handled.push(record.taskId);
        return { kind: "done" };
      },
    });
    await eventually("the other one is buried", async () => (await deadLetters()).length === 1);
    await eventually("both are over", async () => (await consumerInfo()).num_ack_pending === 0);
    expect(handled).toEqual(["T-1"]);
    expect(await deadLetters()).toEqual(["antiphon.v1.dlq.associate.dispatch.run_held.t-2.1"]);
  });

  it("buries a record whose bytes were changed instead of handling it", async () => {
    const handled: number[] = [];
    work(async ({ record }) => {
      handled.push(record.seq);
      return { kind: "done" };
    });
    await bus.js.publish("antiphon.v1.run.0.dispatch.run_forged.t-1.1", new Uint8Array([0xc1, 0xff]));
    await eventually("the forged record is buried", async () => (await deadLetters()).length === 1);
    expect(handled).toEqual([]);
  });

  it("hands a delivery back at once if no slot is free, so another worker gets it before the ack wait", async () => {
    // Two loops share one slot: both may ask while it is free, and both get a message.
    const semaphore = new Semaphore(1);
    const held: Msg[] = [];
    let release = (): void => undefined;
    const until = new Promise<void>((resolve) => (release = resolve));
    const loopOf = (slots: number, shared: Semaphore, take: (message: Msg) => Promise<void>): PullLoop => {
      const options = { stream: "ANT_JOURNAL_0", consumer: "associate", slots, semaphore: shared, log };
      return new PullLoop(bus, { ...options, onMessage: take }, createInbox());
    };
    const hold = async (message: Msg): Promise<void> => {
      held.push(message);
      await until;
      message.respond("+ACK");
    };
    const sharing = [loopOf(1, semaphore, hold), loopOf(1, semaphore, hold)];
    await eventually("both ask", async () => (await consumerInfo()).num_waiting === 2);
    await journal.append(dispatchRecord("run_slot", "T-1", 1));
    await journal.append(dispatchRecord("run_slot", "T-2", 1));
    await eventually("one of them works", () => held.length === 1);
    const taken: string[] = [];
    const startedAt = performance.now();
    const other = loopOf(1, new Semaphore(1), (message) => {
      taken.push(message.subject);
      message.respond("+ACK");
      return Promise.resolve();
    });
    await eventually("somebody else has it", () => taken.length === 1, 5_000);
    expect(performance.now() - startedAt).toBeLessThan(5_000);
    expect(semaphore.free).toBe(0); // it still holds its delivery
    expect([held[0]?.subject, ...taken].toSorted()).toEqual(
      ["1", "2"].map((n) => `antiphon.v1.run.0.dispatch.run_slot.t-${n}.1`),
    );
    release();
    for (const loop of [...sharing, other]) loop.stop();
    await Promise.all([...sharing, other].map((loop) => loop.idleSlots()));
    for (const loop of [...sharing, other]) loop.close();
  });

  it("a worker that stops in the middle of a burst causes no redelivery", async () => {
    const rounds = 12;
    const perRound = 60;
    const deliveries: string[] = [];
    const seen = new Set<string>();
    const handle = (delivery: Delivery): Promise<Outcome> => {
      deliveries.push(delivery.record.subject);
      seen.add(delivery.record.taskId ?? "");
      return Promise.resolve({ kind: "done" });
    };
    for (let round = 0; round < rounds; round += 1) {
      const leaving = work(handle, { slots: 16 });
      const before = seen.size;
      const appended = Array.from({ length: perRound }, (_, i) =>
        journal.append(dispatchRecord(`run_leave${round}`, `T-${round}-${i}`, 1)),
      );
      await eventually("it works", () => seen.size > before + 2 * round, 10_000);
      await leaving.drain(); // deliveries to it are under way
      const follower = work(handle, { slots: 16 });
      await Promise.all(appended);
      await eventually("the rest is done", () => seen.size === before + perRound, 10_000);
      await follower.drain();
    }
    // Not by the delivery count: the server also counts what it took back itself from a reader that was gone.
    expect(deliveries).toHaveLength(rounds * perRound);
    await eventually("all is acknowledged", async () => (await consumerInfo()).num_ack_pending === 0);
  });

  it("drains: handlers finish, nothing new is taken, nothing is redelivered", async () => {
    const finished: string[] = [];
    let release: () => void = () => undefined;
    const worker = work(async ({ record }) => {
      await new Promise<void>((resolve) => (release = resolve));
      finished.push(record.taskId ?? "");
      return { kind: "done" };
    });
    await journal.append(dispatchRecord("run_drain", "T-1", 1));
    await eventually("busy", () => worker.busy === 1);
    const drained = worker.drain();
    await journal.append(dispatchRecord("run_drain", "T-2", 1));
    release();
    await drained;
    expect(finished).toEqual(["T-1"]);
    const seen: Delivery[] = [];
    work(async (delivery) => {
      seen.push(delivery);
      return { kind: "done" };
    });
    await eventually("the next worker has the other one", () => seen.length === 1);
    expect(seen[0]).toMatchObject({ deliveries: 1, record: { taskId: "T-2" } });
  });

  it("aborts the handler when the drain takes too long, and hands its delivery back at once", async () => {
    const worker = work(async ({ signal }) => {
      await new Promise<void>((_, reject) =>
        signal.addEventListener("abort", () => reject(new Error("stopping")), { once: true }),
      );
      return { kind: "done" };
    });
    await journal.append(dispatchRecord("run_abort", "T-1", 1));
    await eventually("busy", () => worker.busy === 1);
    await worker.drain(100);
    const seen: number[] = [];
    work(async ({ deliveries }) => {
      seen.push(deliveries);
      return { kind: "done" };
    });
    await eventually("somebody else has it", () => seen.length === 1, 3000);
    expect(seen).toEqual([2]);
  });

  it("continues after kill -9 of the server and a restart on the same store", async () => {
    const seen = new Set<string>();
    work(
      async ({ record }) => {
        seen.add(record.taskId ?? "");
        return { kind: "done" };
      },
      { slots: 4 },
    );
    for (let round = 0; round < 3; round += 1) {
      await Promise.all(
        Array.from({ length: 20 }, (_, i) =>
          journal.append(dispatchRecord("run_kill", `T-${round}-${i}`, 1)),
        ),
      );
      await eventually(`round ${round} has begun`, () => seen.size > round * 20);
      await server.kill();
      await server.restart();
      await eventually(`round ${round} is done`, () => seen.size === (round + 1) * 20, 30_000);
    }
  });

  it("continues after the server was suspended for longer than a heartbeat", async () => {
    const seen: string[] = [];
    work(async ({ record }) => {
      seen.push(record.taskId ?? "");
      return { kind: "done" };
    });
    await journal.append(dispatchRecord("run_still", "T-1", 1));
    await eventually("one", () => seen.length === 1);
    server.pause();
    await new Promise((resolve) => setTimeout(resolve, 7500)); // the fault under test: longer than two heartbeats
    server.resume();
    await journal.append(dispatchRecord("run_still", "T-2", 1));
    await eventually("two", () => seen.includes("T-2"), 15_000);
  });

  it("runtime/J4: an input is delivered again until its outputs are stored; the second try finds them", async () => {
    const outcomes: string[] = [];
    work(async ({ record, deliveries }) => {
      const output = resultRecord(record.runId, record.taskId ?? "", record.epoch, {
        kind: "abandoned",
        associate: "as_one",
        code: "ANT_INTERNAL",
        message: "",
      });
      outcomes.push((await journal.append(output)).kind);
      if (deliveries === 1) throw new Error("dies between the output's PubAck and the ack");
      return { kind: "done" };
    });
    await journal.append(dispatchRecord("run_twice", "T-1", 1));
    await eventually("two tries", () => outcomes.length === 2);
    expect(outcomes).toEqual(["appended", "duplicate"]);
    expect(await journal.read("run_twice")).toHaveLength(2);
  });

  it("leaves only the durable consumers behind, no other consumer and no subscription", async () => {
    await journal.read("run_leak"); // the connection's own inboxes exist from now on
    const before = await server.subscriptions();
    const worker = work(async () => ({ kind: "done" }), { slots: 3 });
    await journal.append(dispatchRecord("run_leak", "T-1", 1));
    const tailStop = new AbortController();
    for await (const record of journal.tail("run_leak", { signal: tailStop.signal })) {
      expect(record.runId).toBe("run_leak");
      tailStop.abort();
    }
    await worker.drain();
    await bus.nc.flush();
    expect(await server.subscriptions()).toBe(before);
    expect(await server.leakedConsumers()).toEqual([]);
    expect((await bus.jsm.streams.info("ANT_JOURNAL_0")).state.consumer_count).toBe(5);
  });
});
