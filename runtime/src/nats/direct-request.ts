import type { NatsConnection } from "@nats-io/nats-core";
import type { Deadline, Deadlines } from "../process/deadlines.ts";
import { endOf, isAfterGap, stored, type Attempt, type StoredMessage, type Wanted } from "./direct-answer.ts";
import type { ReplyInbox } from "./reply-inbox.ts";

export interface RequestPort {
  nc: NatsConnection;
  inbox: ReplyInbox;
  deadlines: Deadlines;
}

export interface DirectRequest {
  subject: string;
  body: string;
  wanted: Wanted;
}

/** The direct gets that are under way on one connection. Each ends with what came of it. */
export class DirectRequests {
  private readonly port: RequestPort;
  private readonly pending = new Set<(reason: string) => void>();

  constructor(port: RequestPort) {
    this.port = port;
  }

  /** The connection is lost, so answers under way will not arrive. */
  suspend(): void {
    for (const fail of [...this.pending]) fail("connection lost");
  }

  /** Fails after `patienceMs` without an answer. */
  send({ subject, body, wanted }: DirectRequest, patienceMs: number): Promise<Attempt> {
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
        } else if (gap) fail("an answer was lost on the way");
        else settle(endOf(message, code, wanted, messages)); // runtime/J3
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
