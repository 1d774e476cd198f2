/**
 * StreamLeader: asks the leader of a stream what the stream holds. In a cluster any replica answers a direct get, and a
 * lagging one leaves out messages that were acknowledged before; the leader's answer shows whether something is
 * missing.
 *
 * Calls of `lastSeq` that wait at the same time share one request, but never one that was sent before their call.
 */
import type { JetStreamManager, MsgRequest, StoredMsg } from "@nats-io/jetstream";
import type { StoredMessage } from "./direct-answer.ts";

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
    if (waiting !== undefined) return waiting;
    const again = underWay
      .catch(() => 0)
      .then(() => {
        this.next.delete(stream);
        return this.ask(stream);
      });
    this.next.set(stream, again);
    return again;
  }

  /** True if a message from `fromSeq` on matches. */
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

/** The server accepts `next_by_subj` here as in a direct get; the library passes it on without a type for it. */
function nextOf(filter: string, seq: number): MsgRequest {
  const query = { seq, next_by_subj: filter };
  return query;
}

function told({ subject, seq, time, data, header }: StoredMsg): StoredMessage {
  const headers = (): Record<string, string> =>
    Object.fromEntries(header.keys().map((name) => [name, header.get(name)]));
  return { subject, seq, at: time, data, header: (name) => header.get(name), headers };
}
