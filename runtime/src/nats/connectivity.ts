/**
 * Whether a connection to NATS is up. Listeners hear every loss and every reconnect, each once and in the order in which they
 * came to listen, and nothing after the end.
 */
import type { NatsConnection } from "@nats-io/nats-core";
import type { Logger } from "../process/logger.ts";

export class Connectivity {
  readonly #listeners = new Set<(up: boolean) => void>();
  #isUp = true;

  get isUp(): boolean {
    return this.#isUp;
  }

  /** Returns how to stop listening. */
  listen(listener: (up: boolean) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Follows the status events of the client library, until the connection is closed. */
  async watch(nc: NatsConnection, log: Logger | undefined): Promise<void> {
    for await (const status of nc.status()) {
      if (status.type === "disconnect") {
        // Every failed attempt reports a disconnect; log only the first.
        if (this.#turn(false)) log?.warn({ server: status.server }, "NATS connection lost; reconnecting");
      } else if (status.type === "reconnect") {
        if (this.#turn(true)) log?.info({ server: status.server }, "NATS connection is back");
      } else if (status.type === "error") {
        log?.warn({ err: status.error }, "NATS reported an error");
      }
    }
  }

  end(): void {
    this.#isUp = false;
    this.#listeners.clear();
  }

  /** False: nothing changed. */
  #turn(up: boolean): boolean {
    if (this.#isUp === up) return false;
    this.#isUp = up;
    for (const listener of [...this.#listeners]) listener(up);
    return true;
  }
}
