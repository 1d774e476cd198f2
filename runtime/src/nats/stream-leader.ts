/**
 * StreamLeader: what a stream holds in the eyes of its leader. In a cluster a direct get is answered by any replica, and
 * one that lags answers with less than was acknowledged before the question; the leader's word says how much is due.
 *
 * Invariants:
 *   G6 `lastSeq` was true after it was asked for: questions that wait together share one answer, never an older one.
 */
import type { JetStreamManager, MsgRequest, StoredMsg } from "@nats-io/jetstream";
import type { StoredMessage } from "./direct-reader.ts";

export class StreamLeader {
  private readonly jsm: JetStreamManager;
  private readonly asked = new Map<string, Promise<number>>();
  private readonly next = new Map<string, Promise<number>>();

  constructor(jsm: JetStreamManager) {
    this.jsm = jsm;
  }

  /** The last sequence of the stream. */
  lastSeq(stream: string): Promise<number> {
    const underWay = this.asked.get(stream);
    if (underWay === undefined) return this.ask(stream);
    const waiting = this.next.get(stream);
    if (waiting !== undefined) return waiting; // G6
    const again = underWay
      .catch(() => 0)
      .then(() => {
        this.next.delete(stream);
        return this.ask(stream);
      });
    this.next.set(stream, again);
    return again;
  }

  /** Is there a message from `fromSeq` on that matches? */
  async has(stream: string, filters: readonly string[], fromSeq: number): Promise<boolean> {
    const seq = Math.max(1, fromSeq);
    const found = await Promise.all(
      filters.map((filter) => this.jsm.streams.getMessage(stream, nextOf(filter, seq))),
    );
    return found.some((message) => message !== null);
  }

  async last(stream: string, subject: string): Promise<StoredMessage | null> {
    const message = await this.jsm.streams.getMessage(stream, { last_by_subj: subject });
    return message === null ? null : told(message);
  }

  private ask(stream: string): Promise<number> {
    const answer = this.jsm.streams
      .info(stream)
      .then(({ state }) => state.last_seq)
      .finally(() => this.asked.delete(stream));
    this.asked.set(stream, answer);
    return answer;
  }
}

/** The library passes it on, but does not know of it: the server takes `next_by_subj` here as in a direct get. */
function nextOf(filter: string, seq: number): MsgRequest {
  const query = { seq, next_by_subj: filter };
  return query;
}

function told({ subject, seq, time, data, header }: StoredMsg): StoredMessage {
  const headers = (): Record<string, string> =>
    Object.fromEntries(header.keys().map((name) => [name, header.get(name)]));
  return { subject, seq, at: time, data, header: (name) => header.get(name), headers };
}
