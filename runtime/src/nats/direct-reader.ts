import type { NatsConnection } from "@nats-io/nats-core";
import { AntiphonError } from "@antiphon/contracts";
import { backoffMs } from "../process/backoff.ts";
import type { Deadline, Deadlines } from "../process/deadlines.ts";
import { endOf, isAfterGap, stored, type Attempt, type StoredMessage, type Wanted } from "./direct-answer.ts";
import type { ReplyInbox } from "./reply-inbox.ts";
import type { StreamLeader } from "./stream-leader.ts";

/**
 * DirectReader: reads stored messages by JetStream's direct get (ADR-31). It leaves no consumer or subscription of its
 * own on the server.
 *
 * One record takes one request. All last messages of a wildcard ("multi last") also take one request, and since every
 * subject of the journal holds one record, that is a whole run.
 *
 * Because half an answer would lead to wrong decisions, a read of a record or a whole run returns everything that was
 * acknowledged before it began, whichever replica answers, or it fails: it is never silently cut short, and it ends within
 * its deadline (runtime/J3).
 */
export interface Batch {
  messages: StoredMessage[];
  /** Matching messages that were not sent. */
  pending: number;
}

interface ReaderPort {
  nc: NatsConnection;
  inbox: ReplyInbox;
  deadlines: Deadlines;
  connected: () => boolean;
  /** Null: there is only one server, so no replica can lag. */
  leader: StreamLeader | null;
}

/** An attempt fails after this long without an answer. */
const silenceMs = 3000;
const tickMs = 100;
/** A read fails with an error after this time. Default of every call. */
const readDeadlineMs = 15_000;
const retryPolicy = { baseMs: 20, capMs: 1000 };

export class TooManyResults extends Error {}

/** The server lists a message but does not deliver it, because its checksum on disk does not match. */
export class UnreadableMessage extends Error {}

/** A message may be purged between the server's look at its index and at its disk; the next try then finds neither. */
const unreadableTries = 3;

/** Compares a replica's answer with the leader's state. */
interface Standard {
  before(): Promise<void>;
  judge(attempt: Attempt): Promise<Attempt>;
}

export class DirectReader {
  private readonly port: ReaderPort;
  private readonly pending = new Set<(reason: string) => void>();
  private readonly sleepers = new Set<() => void>();
  private closed = false;

  constructor(port: ReaderPort) {
    this.port = port;
  }

  /** The last message on one subject, or null. */
  async last(stream: string, subject: string, deadlineMs = readDeadlineMs): Promise<StoredMessage | null> {
    const standard = this.standard(async (leader, attempt) => {
      if (attempt.kind !== "none") return attempt;
      const message = await leader.last(stream, subject); // runtime/J3
      return message === null ? attempt : { kind: "done", messages: [message], pending: 0, upToSeq: 0 };
    });
    const result = await this.ask(`$JS.API.DIRECT.GET.${stream}.${subject}`, "", "one", deadlineMs, standard);
    return result?.messages[0] ?? null;
  }

  /** The last message of every subject that matches, in stream order, from `fromSeq` on. */
  async multiLast(
    stream: string,
    filters: readonly string[],
    fromSeq = 0,
    deadlineMs = readDeadlineMs,
  ): Promise<StoredMessage[]> {
    const found: StoredMessage[] = [];
    for (let seq = fromSeq; ;) {
      const body = JSON.stringify({ multi_last: filters, ...(seq > 0 ? { seq } : {}) });
      const standard = this.upToLeader(stream, filters, seq);
      const result = await this.ask(`$JS.API.DIRECT.GET.${stream}`, body, "last", deadlineMs, standard);
      found.push(...(result?.messages ?? []));
      const last = result?.messages.at(-1);
      // The server stops after 64 MiB and says how many are left. runtime/J3
      if (result === null || result.pending === 0 || last === undefined) return found;
      seq = last.seq + 1;
    }
  }

  /** The next `batch` messages that match, from `seq` on; bounded by `maxBytes`. */
  async next(
    stream: string,
    query: { filter: string; seq: number; batch: number; maxBytes?: number },
    deadlineMs = readDeadlineMs,
  ): Promise<Batch> {
    const body = JSON.stringify({
      next_by_subj: query.filter,
      seq: Math.max(1, query.seq),
      batch: query.batch,
      ...(query.maxBytes === undefined ? {} : { max_bytes: query.maxBytes }),
    });
    const standard = this.standard(async (leader, attempt) =>
      attempt.kind === "none" && (await leader.has(stream, [query.filter], query.seq)) ? LAGS : attempt,
    );
    const result = await this.ask(`$JS.API.DIRECT.GET.${stream}`, body, "next", deadlineMs, standard);
    return result ?? { messages: [], pending: 0 };
  }

  /** Requires a read of all matching messages to reach the leader's last sequence. */
  private upToLeader(stream: string, filters: readonly string[], fromSeq: number): Standard | null {
    let due: number | null = null;
    return this.standard(
      async (leader, attempt) => {
        if (attempt.kind === "done") return attempt.upToSeq < (due ?? 0) ? LAGS : attempt; // runtime/J3
        return attempt.kind === "none" && (await leader.has(stream, filters, fromSeq)) ? LAGS : attempt;
      },
      async (leader) => {
        due ??= await leader.lastSeq(stream);
      },
    );
  }

  private standard(
    judge: (leader: StreamLeader, attempt: Attempt) => Promise<Attempt>,
    before: (leader: StreamLeader) => Promise<void> = () => Promise.resolve(),
  ): Standard | null {
    const { leader } = this.port;
    if (leader === null) return null;
    return { before: () => before(leader), judge: (attempt) => judge(leader, attempt) };
  }

  /** The connection is lost, so answers under way will not arrive. */
  suspend(): void {
    for (const fail of [...this.pending]) fail("connection lost");
  }

  /** The connection is back: waiting reads try again at once. */
  resume(): void {
    for (const wake of [...this.sleepers]) wake();
  }

  close(): void {
    this.closed = true;
    this.suspend();
    this.resume();
  }

  private sleep(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const wake = (): void => {
        clearTimeout(timer);
        this.sleepers.delete(wake);
        resolve();
      };
      const timer = setTimeout(wake, ms);
      this.sleepers.add(wake);
    });
  }

  private async ask(
    subject: string,
    body: string,
    wanted: Wanted,
    deadlineMs: number,
    standard: Standard | null,
  ): Promise<{ messages: StoredMessage[]; pending: number } | null> {
    const until = performance.now() + deadlineMs;
    let reason = "not connected";
    let unreadable = 0;
    for (let attempt = 0; ; attempt += 1) {
      if (this.closed) break;
      if (this.port.connected()) {
        const patience = Math.max(tickMs, Math.min(silenceMs, until - performance.now()));
        const once = (): Promise<Attempt> => this.attempt(subject, body, wanted, patience);
        const result = await (standard === null ? once() : heldTo(standard, once));
        if (result.kind === "done") return result;
        if (result.kind === "none") return null;
        if (result.kind === "too-many") throw new TooManyResults(subject); // runtime/J3
        if (result.kind === "unreadable" && ++unreadable >= unreadableTries) {
          throw new UnreadableMessage(`${subject} ${body}`); // runtime/J3
        }
        reason = result.kind === "later" ? result.reason : "the server does not deliver a stored message";
      }
      const left = until - performance.now();
      if (left <= 0) break; // runtime/J3
      await this.sleep(Math.min(left, backoffMs(attempt, retryPolicy, Math.random())));
    }
    throw new AntiphonError("ANT_NATS_UNREACHABLE", `${subject}: ${reason}`, { data: { subject } });
  }

  private attempt(subject: string, body: string, wanted: Wanted, patienceMs: number): Promise<Attempt> {
    return new Promise((resolve) => {
      const { inbox, deadlines, nc } = this.port;
      const messages: StoredMessage[] = [];
      const settle = (attempt: Attempt): void => {
        if (!this.pending.delete(fail)) return;
        inbox.forget(token);
        deadlines.cancel(deadline);
        resolve(attempt);
      };
      const fail = (reason: string): void => settle({ kind: "later", reason });
      let heard = 0;
      let heardBefore = 0;
      let gap = false;
      const arm = (): Deadline =>
        deadlines.add(patienceMs, () => {
          if (heard === heardBefore) return fail("no answer in time");
          heardBefore = heard;
          deadline = arm();
        });
      let deadline = arm();
      const token = inbox.expect((message) => {
        const code = message.headers?.code ?? 0;
        heard += 1;
        gap ||= wanted !== "one" && isAfterGap(message, messages);
        if (code === 0) {
          messages.push(stored(message));
          if (wanted === "one") settle({ kind: "done", messages, pending: 0, upToSeq: 0 });
          return;
        }
        settle(
          gap
            ? { kind: "later", reason: "an answer was lost on the way" }
            : endOf(message, code, wanted, messages),
        ); // runtime/J3
      });
      this.pending.add(fail);
      try {
        nc.publish(subject, body, { reply: inbox.subjectOf(token) });
      } catch (error) {
        fail(String(error));
      }
    });
  }
}

const LAGS: Attempt = { kind: "later", reason: "the replica that answered lags behind the leader" };

/** While the stream has no leader, the last sequence is unknown, so the read is retried. */
async function heldTo(standard: Standard, once: () => Promise<Attempt>): Promise<Attempt> {
  try {
    await standard.before();
    return await standard.judge(await once());
  } catch (error) {
    return { kind: "later", reason: `the leader does not answer: ${String(error)}` };
  }
}
