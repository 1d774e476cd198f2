import { createInbox, type Msg } from "@nats-io/nats-core";
import { AntiphonError, encode, isErrorCode, limits, type ErrorCode } from "@antiphon/contracts";
import type { Bus } from "../nats/bus.ts";
import { objectIn, subscribe } from "../nats/subscription.ts";
import { wireHeaders } from "../nats/wire-headers.ts";
import { requestHeaders } from "./rpc.ts";

export interface Conversation<Event> {
  /** True for the event that ends the conversation. */
  isLast: (event: Event) => boolean;
  /** Called with every event, including the last one. */
  onEvent?: (event: Event) => void;
  headers?: Readonly<Record<string, string>>;
  /** The error when the other side falls silent. Default ANT_SANDBOX_RUNNER_LOST. */
  silentCode?: ErrorCode;
}

/**
 * Asks one question that is answered by a stream of events, among them heartbeats. Resolves with the last event, or
 * with null if nobody serves the subject. Rejects with the error that was answered, or with `silentCode`
 * after limits.sandboxSilenceMs of silence. A message that is not an event counts only as a sign of life. If the
 * listener throws, the conversation ends, because the following events would be incomplete.
 */
export function converse<Event extends object>(
  bus: Bus,
  subject: string,
  request: object,
  { isLast, onEvent, headers = {}, silentCode = "ANT_SANDBOX_RUNNER_LOST" }: Conversation<Event>,
): Promise<Event | null> {
  return new Promise((resolve, reject) => {
    const inbox = createInbox();
    let heardAt = performance.now();
    const watch = setInterval(() => {
      if (performance.now() - heardAt <= limits.sandboxSilenceMs) return;
      end(() => reject(new AntiphonError(silentCode, `${subject} is silent`)));
    }, limits.sandboxBeatMs / 2);
    const hear = (message: Msg): void => {
      heardAt = performance.now();
      if (message.headers?.code === 503) return end(() => resolve(null));
      const event = objectIn(message.data) as Event | Failure | null;
      if (event === null) return;
      if ("ok" in event && event.ok === false) return end(() => reject(failureOf(event)));
      try {
        onEvent?.(event as Event);
        if (isLast(event as Event)) end(() => resolve(event as Event));
      } catch (error) {
        end(() => reject(AntiphonError.from(error, "ANT_SANDBOX_FAILED")));
      }
    };
    const subscription = subscribe(bus.nc, inbox, hear, { log: bus.log });
    const end = (settle: () => void): void => {
      clearInterval(watch);
      if (!subscription.isClosed()) subscription.unsubscribe();
      settle();
    };
    try {
      const words = wireHeaders({ ...requestHeaders(bus), ...headers });
      bus.nc.publish(subject, encode(request), { reply: inbox, headers: words });
    } catch (error) {
      end(() => reject(AntiphonError.from(error, "ANT_SANDBOX_REFUSED"))); // the request exceeds the message size
    }
  });
}

interface Failure {
  readonly ok: false;
  readonly code: string;
  readonly message: string;
  /** Absent: that of the code. */
  readonly remedy?: string;
}

function failureOf({ code, message, remedy }: Failure): AntiphonError {
  if (!isErrorCode(code)) return new AntiphonError("ANT_SANDBOX_FAILED", message);
  return new AntiphonError(code, message, remedy === undefined ? {} : { remedy });
}
