import type { Msg, NatsConnection, Subscription } from "@nats-io/nats-core";
import { createInbox } from "@nats-io/nats-core";
import type { Logger } from "../process/logger.ts";
import { subscribe } from "./subscription.ts";

/**
 * ReplyInbox: receives every reply of a connection through one wildcard subscription.
 *
 * After a reconnect the client library subscribes to the same subject again, so a reply that the server still owes
 * reaches its waiter. Each token belongs to one waiter and is never reused; a reply to a forgotten token is dropped.
 */
export class ReplyInbox {
  private readonly prefix: string;
  private readonly subscription: Subscription;
  private readonly waiters = new Map<string, (message: Msg) => void>();
  private next = 0;

  constructor(nc: NatsConnection, log?: Logger) {
    this.prefix = `${createInbox()}.`;
    const hand = (message: Msg): void =>
      this.waiters.get(message.subject.slice(this.prefix.length))?.(message);
    this.subscription = subscribe(nc, `${this.prefix}*`, hand, { log });
  }

  /** Registers a waiter for any number of replies; returns the token to forget it by. */
  expect(waiter: (message: Msg) => void): string {
    this.next += 1;
    const token = this.next.toString(36);
    this.waiters.set(token, waiter);
    return token;
  }

  subjectOf(token: string): string {
    return this.prefix + token;
  }

  forget(token: string): void {
    this.waiters.delete(token);
  }

  get size(): number {
    return this.waiters.size;
  }

  close(): void {
    this.waiters.clear();
    if (!this.subscription.isClosed()) this.subscription.unsubscribe();
  }
}
