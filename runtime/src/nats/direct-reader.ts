import { AntiphonError } from "@antiphon/contracts";
import { backoffMs } from "../process/backoff.ts";
import type { Attempt, StoredMessage } from "./direct-answer.ts";
import { DirectRequests, type DirectRequest, type RequestPort } from "./direct-request.ts";
import { noneOnlyIfLeader, orFromLeader, upToLeader, type Standard } from "./leader-standard.ts";
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

interface ReaderPort extends RequestPort {
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

export class DirectReader {
  private readonly port: ReaderPort;
  private readonly requests: DirectRequests;
  private readonly sleepers = new Set<() => void>();
  private closed = false;

  constructor(port: ReaderPort) {
    this.port = port;
    this.requests = new DirectRequests(port);
  }

  /** The last message on one subject, or null. */
  async last(stream: string, subject: string, deadlineMs = readDeadlineMs): Promise<StoredMessage | null> {
    const { leader } = this.port;
    const standard = leader && orFromLeader(leader, stream, subject);
    const request = { subject: `$JS.API.DIRECT.GET.${stream}.${subject}`, body: "", wanted: "one" } as const;
    const result = await this.ask(request, deadlineMs, standard);
    return result?.messages[0] ?? null;
  }

  /** The last message of every subject that matches, in stream order, from `fromSeq` on. */
  async multiLast(
    stream: string,
    filters: readonly string[],
    fromSeq = 0,
    deadlineMs = readDeadlineMs,
  ): Promise<StoredMessage[]> {
    const { leader } = this.port;
    const found: StoredMessage[] = [];
    for (let seq = fromSeq; ;) {
      const body = JSON.stringify({ multi_last: filters, ...(seq > 0 ? { seq } : {}) });
      const standard = leader && upToLeader(leader, stream, filters, seq);
      const request = { subject: `$JS.API.DIRECT.GET.${stream}`, body, wanted: "last" } as const;
      const result = await this.ask(request, deadlineMs, standard);
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
    const { leader } = this.port;
    const standard = leader && noneOnlyIfLeader(leader, stream, [query.filter], query.seq);
    const request = { subject: `$JS.API.DIRECT.GET.${stream}`, body, wanted: "next" } as const;
    const result = await this.ask(request, deadlineMs, standard);
    return result ?? { messages: [], pending: 0 };
  }

  /** The connection is lost, so answers under way will not arrive. */
  suspend(): void {
    this.requests.suspend();
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
    request: DirectRequest,
    deadlineMs: number,
    standard: Standard | null,
  ): Promise<Batch | null> {
    const { subject, body } = request;
    const until = performance.now() + deadlineMs;
    let reason = "not connected";
    let unreadable = 0;
    for (let attempt = 0; ; attempt += 1) {
      if (this.closed) break;
      if (this.port.connected()) {
        const patience = Math.max(tickMs, Math.min(silenceMs, until - performance.now()));
        const send = (): Promise<Attempt> => this.requests.send(request, patience);
        const result = await (standard === null ? send() : standard(send));
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
}
