import type { Msg } from "@nats-io/nats-core";
import { beforeEach, describe, expect, it } from "vitest";
import { CommitLane } from "./commit-lane.ts";
import type { PublishResult } from "./publish-result.ts";
import { type HeaderLines, noHeaders } from "../nats/wire-headers.ts";
import { Deadlines } from "../process/deadlines.ts";
import type { LanePort, Outgoing, PublisherLimits } from "./publisher.ts";
import { Publisher, publisherDefaults } from "./publisher.ts";

/** A hand-driven environment for the publisher: it records messages, and the test decides when answers come. */
class HandDrivenPort implements LanePort {
  readonly sent: { subject: string; headers: Readonly<Record<string, string>>; reply: string | null }[] = [];
  readonly waiters = new Map<string, (message: Msg) => void>();
  readonly notes: string[] = [];
  now = 0;
  up = true;
  readonly deadlines = new Deadlines(() => this.now, 100);
  readonly limits: PublisherLimits;

  constructor(limits: Partial<PublisherLimits> = {}) {
    const group = { ...publisherDefaults.group, batchFrom: 12, maxSingles: 12 };
    this.limits = { ...publisherDefaults, group, ...limits };
  }

  send(subject: string, _payload: Uint8Array, headers: HeaderLines, reply: string | null): void {
    this.sent.push({ subject, headers: fieldsOf(headers), reply });
  }
  expect(waiter: (message: Msg) => void): string {
    const token = `t${this.sent.length}-${this.waiters.size}`;
    this.waiters.set(token, waiter);
    return token;
  }
  replySubject(token: string): string {
    return token;
  }
  forget(token: string): void {
    this.waiters.delete(token);
  }
  connected(): boolean {
    return this.up;
  }
  note(_out: Outgoing, what: string): void {
    this.notes.push(what);
  }

  /** Answers the commit whose reply token this is. */
  answer(reply: string | null | undefined, body: object): void {
    const waiter = this.waiters.get(reply ?? "");
    waiter?.({ data: Buffer.from(JSON.stringify(body)) } as unknown as Msg);
  }

  pass(ms: number): void {
    this.now += ms;
    this.deadlines.sweep();
  }
}

const out = (subject: string, more: Partial<Outgoing> = {}): Outgoing => ({
  stream: "S",
  subject,
  payload: new Uint8Array(10),
  headers: noHeaders,
  expectLastSubjectSequence: 0,
  group: true,
  ...more,
});
const fieldsOf = (lines: HeaderLines): Record<string, string> =>
  Object.fromEntries(
    lines
      .split("\r\n")
      .slice(0, -1)
      .map((line) => line.split(": ") as [string, string]),
  );
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
const refused = (code: number): object => ({
  error: { code: 400, err_code: code, description: "no" },
  stream: "S",
});

let port: HandDrivenPort;
let publisher: Publisher;

beforeEach(() => {
  port = new HandDrivenPort();
  publisher = new Publisher(port);
});

describe("publisher", () => {
  it("sends one message at once, with its expectation, and settles with its sequence", async () => {
    const result = publisher.publish(out("a"));
    await turn();
    expect(port.sent).toMatchObject([
      { subject: "a", headers: { "Nats-Expected-Last-Subject-Sequence": "0" } },
    ]);
    port.answer(port.sent[0]?.reply, { stream: "S", seq: 7 });
    expect(await result).toEqual({ kind: "ok", seq: 7, count: 1 });
    expect(port.waiters.size).toBe(0);
    expect(port.deadlines.size).toBe(0);
  });

  it("commits a burst as one numbered batch with one reply, committed by its last message", async () => {
    const results = Array.from({ length: 20 }, (_, i) => publisher.publish(out(`s${i}`)));
    await turn();
    const ids = new Set(port.sent.map((message) => message.headers["Nats-Batch-Id"]));
    expect(ids.size).toBe(1);
    expect(port.sent.map((message) => message.headers["Nats-Batch-Sequence"])).toEqual(
      Array.from({ length: 20 }, (_, i) => String(i + 1)),
    );
    expect(port.sent.filter((message) => message.reply !== null)).toHaveLength(1);
    expect(port.sent.at(-1)?.headers["Nats-Batch-Commit"]).toBe("1");
    port.answer(port.sent.at(-1)?.reply, { stream: "S", seq: 120, batch: "b", count: 20 });
    const seqs = (await Promise.all(results)).map((result) => result.kind === "ok" && result.seq);
    expect(seqs).toEqual(Array.from({ length: 20 }, (_, i) => 101 + i));
  });

  it("runtime/J2: sends the members of a refused batch again singly, and never in a batch", async () => {
    const results = Array.from({ length: 15 }, (_, i) => publisher.publish(out(`s${i}`)));
    await turn();
    port.answer(port.sent.at(-1)?.reply, refused(10071));
    await turn();
    const again = port.sent.slice(15);
    expect(again).toHaveLength(15);
    expect(again.every((message) => message.headers["Nats-Batch-Id"] === undefined)).toBe(true);
    again.forEach((message, i) =>
      port.answer(message.reply, i === 3 ? refused(10071) : { stream: "S", seq: i + 1 }),
    );
    const kinds = (await Promise.all(results)).map((result) => result.kind);
    expect(kinds.filter((kind) => kind === "ok")).toHaveLength(14);
    expect(kinds[3]).toBe("failed");
  });

  it("runtime/J2: accepts a batch's acknowledgement only if it counts every member", async () => {
    for (let i = 0; i < 12; i += 1) void publisher.publish(out(`s${i}`));
    await turn();
    port.answer(port.sent.at(-1)?.reply, { stream: "S", seq: 12, batch: "b", count: 11 });
    await turn();
    expect(port.sent).toHaveLength(24);
    publisher.close();
  });

  it("runtime/J2: sends the same message again if no acknowledgement comes, and settles once", async () => {
    let settled = 0;
    const result = publisher.publish(out("a")).finally(() => (settled += 1));
    await turn();
    const late = port.sent[0]?.reply;
    port.pass(port.limits.ackTimeoutMs + 200);
    port.pass(200);
    await turn();
    expect(port.sent).toHaveLength(2);
    expect(port.sent[1]).toMatchObject({ subject: "a", headers: port.sent[0]?.headers });
    port.answer(late, { stream: "S", seq: 1 }); // the answer to the first attempt, too late: its token is forgotten
    await turn();
    expect(settled).toBe(0);
    port.answer(port.sent[1]?.reply, refused(10071));
    expect(await result).toMatchObject({ kind: "failed", refusal: "expectation" });
    expect(settled).toBe(1);
  });

  it("reports an unknown fate of a `once` message after its one attempt", async () => {
    const result = publisher.publish(out("a", { once: true, group: false }));
    await turn();
    port.pass(port.limits.ackTimeoutMs + 200);
    expect(await result).toMatchObject({ kind: "unknown" });
    expect(port.sent).toHaveLength(1);
  });

  it("runtime/J2: sends a `once` message in no batch, whose members are sent again", async () => {
    const results = Array.from({ length: 13 }, (_, i) => publisher.publish(out(`s${i}`, { once: i === 0 })));
    await turn();
    port.pass(port.limits.ackTimeoutMs + 200);
    expect(await results[0]).toMatchObject({ kind: "unknown" });
    expect(port.sent.filter(({ subject }) => subject === "s0")).toHaveLength(1);
  });

  it("retries a temporary refusal, and not a final one", async () => {
    const waiting = publisher.publish(out("a"));
    await turn();
    port.answer(port.sent[0]?.reply, refused(10008));
    port.pass(500);
    await turn();
    expect(port.sent).toHaveLength(2);
    port.answer(port.sent[1]?.reply, { stream: "S", seq: 3 });
    expect((await waiting).kind).toBe("ok");
    const full = publisher.publish(out("b"));
    await turn();
    port.answer(port.sent[2]?.reply, refused(10077));
    expect(await full).toMatchObject({ kind: "failed", refusal: "full" });
  });

  it("sends nothing while the connection is down, and everything once when it is back", async () => {
    const first = publisher.publish(out("a"));
    await turn();
    port.up = false;
    publisher.suspend();
    const second = publisher.publish(out("b"));
    await turn();
    expect(port.sent).toHaveLength(1);
    port.up = true;
    publisher.resume();
    await turn();
    expect(port.sent.map((message) => message.subject).sort()).toEqual(["a", "a", "b"]);
    for (const message of port.sent.slice(1)) port.answer(message.reply, { stream: "S", seq: 5 });
    expect([(await first).kind, (await second).kind]).toEqual(["ok", "ok"]);
    port.pass(60_000); // no delay or deadline is left that could send one of them again
    await turn();
    expect(port.sent).toHaveLength(3);
  });

  it("admits messages up to its bound in order of arrival, and lets a waiting caller leave", async () => {
    port = new HandDrivenPort({ maxPending: 2 });
    publisher = new Publisher(port);
    const done: string[] = [];
    const leave = new AbortController();
    const go = (subject: string, signal?: AbortSignal): Promise<PublishResult> =>
      publisher.publish(out(subject), signal).finally(() => done.push(subject));
    const all = [go("a"), go("b"), go("c", leave.signal), go("d")];
    await turn();
    expect(port.sent.map((message) => message.subject)).toEqual(["a", "b"]);
    leave.abort();
    expect(await all[2]).toMatchObject({ kind: "unknown" });
    port.answer(port.sent[0]?.reply, { stream: "S", seq: 1 });
    await turn();
    expect(port.sent.map((message) => message.subject)).toEqual(["a", "b", "d"]);
    expect(publisher.stats().pending).toBe(2);
    publisher.close();
    await Promise.all(all);
    expect(publisher.stats()).toMatchObject({ pending: 0, pendingBytes: 0 });
  });

  it("does not send a message whose signal aborted between the grant and the queue, and says so", async () => {
    const lane = new CommitLane(port);
    expect(await lane.submit(out("a"), AbortSignal.abort())).toEqual({ kind: "unknown", reason: "aborted" });
    await turn();
    expect([port.sent, port.waiters.size]).toEqual([[], 0]);
  });

  it("runtime/J2: settles everything when it closes, and accepts nothing after", async () => {
    const results = Array.from({ length: 30 }, (_, i) => publisher.publish(out(`s${i}`)));
    await turn();
    publisher.close();
    expect((await Promise.all(results)).every((result) => result.kind === "unknown")).toBe(true);
    expect((await publisher.publish(out("late"))).kind).toBe("unknown");
    expect(port.waiters.size).toBe(0);
    expect(port.deadlines.size).toBe(0);
  });
});
