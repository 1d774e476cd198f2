import { createInbox } from "@nats-io/nats-core";
import { AntiphonError } from "@antiphon/contracts";
import type { Bus } from "../nats/bus.ts";
import { subscribe } from "../nats/subscription.ts";

export interface Gathering {
  /** Ends after so many answers, or after `maxWaitMs`. */
  readonly expect: number;
  readonly maxWaitMs: number;
  /** Default: nothing. */
  readonly payload?: Uint8Array;
}

/**
 * Publishes requests and gathers what everybody answers. `read`: an answer, or null if it is none.
 * @throws AntiphonError ANT_NATS_UNREACHABLE if the connection is lost meanwhile
 */
export async function gather<Answer>(
  bus: Bus,
  subjects: readonly string[],
  { expect, maxWaitMs, payload = new Uint8Array() }: Gathering,
  read: (data: Uint8Array) => Answer | null,
): Promise<Answer[]> {
  const cutOff = (): AntiphonError => new AntiphonError("ANT_NATS_UNREACHABLE", "the roll call was cut off");
  if (!bus.connected) throw cutOff();
  const answers: Answer[] = [];
  const inbox = createInbox();
  let end = (_lost: boolean): void => undefined;
  const ended = new Promise<boolean>((resolve) => (end = resolve));
  const subscription = subscribe(bus.nc, inbox, ({ data }) => {
    const answer = data.length === 0 ? null : read(data); // Empty: nobody serves this subject.
    if (answer === null) return;
    answers.push(answer);
    if (answers.length >= expect) end(false);
  });
  const timer = setTimeout(() => end(false), maxWaitMs);
  const stopListening = bus.onConnectivity((up) => {
    if (!up) end(true);
  });
  try {
    for (const subject of subjects) bus.nc.publish(subject, payload, { reply: inbox });
    if (await ended) throw cutOff();
    return answers;
  } finally {
    clearTimeout(timer);
    stopListening();
    if (!subscription.isClosed()) subscription.unsubscribe();
  }
}
