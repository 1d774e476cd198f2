import type { Msg, NatsConnection, Subscription } from "@nats-io/nats-core";
import { decode } from "@antiphon/contracts";
import type { Logger } from "../process/logger.ts";

/**
 * Every subscription of this process is made here.
 *
 * Because the client library stops reading its socket when a callback throws, every subscription catches what its handler
 * throws: no message keeps this process from hearing the next one, and every request that arrives is answered with a result
 * or a coded error (runtime/J5).
 */
export interface SubscriptionOptions {
  queue?: string;
  /** Logs the first undeliverable message only, since the others would say the same. */
  log?: Logger | undefined;
}

export function subscribe(
  connection: Pick<NatsConnection, "subscribe">,
  subject: string,
  hear: (message: Msg) => void,
  { queue, log }: SubscriptionOptions = {},
): Subscription {
  let isTold = false;
  return connection.subscribe(subject, {
    ...(queue === undefined ? {} : { queue }),
    callback: (error, message) => {
      if (error !== null) return;
      try {
        hear(message);
      } catch (thrown) {
        if (!isTold) log?.warn({ subject, err: thrown }, "undeliverable message dropped"); // runtime/J5
        isTold = true;
      }
    },
  });
}

/**
 * The MessagePack object in a message; null if the payload is something else (not MessagePack, nil, a number, a text).
 */
export function objectIn(data: Uint8Array): object | null {
  try {
    const value = decode(data);
    return typeof value === "object" ? value : null;
  } catch {
    return null;
  }
}
