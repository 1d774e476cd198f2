import type { Msg, NatsConnection, Subscription } from "@nats-io/nats-core";
import { decode } from "@antiphon/contracts";
import type { Logger } from "../process/logger.ts";

/**
 * The one way to subscribe. The client library calls a subscription back from the loop that reads its socket and catches
 * nothing: a throw there ends the loop while the connection stays open, and the process hears nothing more on any subject.
 *
 * Invariants:
 *   Q3 No message, whatever is in it, keeps this process from hearing the next one.
 */
export interface SubscriptionOptions {
  queue?: string;
  /** Hears of the first message that could not be taken; the others would say the same. */
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
        if (!isTold) log?.warn({ subject, err: thrown }, "a message could not be taken; it is dropped"); // Q3
        isTold = true;
      }
    },
  });
}

/** What a message carries; null where that is no MessagePack, or no object (nil, a number, a text). */
export function objectIn(data: Uint8Array): object | null {
  try {
    const value = decode(data);
    return typeof value === "object" ? value : null;
  } catch {
    return null;
  }
}
