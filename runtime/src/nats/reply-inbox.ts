import type { Msg, NatsConnection, Subscription } from "@nats-io/nats-core";
import { createInbox } from "@nats-io/nats-core";
import type { Logger } from "../process/logger.ts";
import { subscribe } from "./subscription.ts";

/**
 * ReplyInbox: every answer of a connection comes back through one wildcard subscription.
 *
 * The client library re-subscribes it after a reconnect under the same subject, so an answer that the
 * server still owes is delivered to the right waiter.
 *
 * Invariants:
 *   R1 A token names one waiter; an answer to a forgotten token is dropped, never given to another one.
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

  /** Registers a waiter for any number of answers; returns the token to forget it by. */
  expect(waiter: (message: Msg) => void): string {
    this.next += 1;
    const token = this.next.toString(36); // R1: counted up, never reused
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
