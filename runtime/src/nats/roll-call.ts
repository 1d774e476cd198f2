import { createInbox } from "@nats-io/nats-core";
import { AntiphonError } from "@antiphon/contracts";
import type { Bus } from "./bus.ts";
import { subscribe } from "./subscription.ts";

export interface PresentProcess {
  /** The service, and the unique name of its process. */
  readonly name: string;
  readonly id: string;
  readonly version: string;
  /** The principal of its NATS user, or `shared`. */
  readonly natsUser: string;
}

interface Pong {
  readonly name: string;
  readonly id: string;
  readonly version: string;
  readonly metadata?: { readonly "nats-user"?: string };
}

/**
 * Asks the processes of the named services who they are (`$SRV.PING.<service>`). Ends after `expect` answers or
 * `maxWaitMs`. @throws AntiphonError ANT_NATS_UNREACHABLE if the connection is lost meanwhile.
 */
export async function rollCall(
  bus: Bus,
  services: readonly string[],
  expect: number,
  maxWaitMs: number,
): Promise<PresentProcess[]> {
  const cutOff = (): AntiphonError => new AntiphonError("ANT_NATS_UNREACHABLE", "the roll call was cut off");
  if (!bus.connected) throw cutOff();
  const present: PresentProcess[] = [];
  const inbox = createInbox();
  let end = (_lost: boolean): void => undefined;
  const ended = new Promise<boolean>((resolve) => (end = resolve));
  const subscription = subscribe(bus.nc, inbox, (message) => {
    if (message.data.length === 0) return; // Nobody serves this name.
    const { name, id, version, metadata } = message.json<Pong>();
    present.push({ name, id, version, natsUser: metadata?.["nats-user"] ?? "shared" });
    if (present.length >= expect) end(false);
  });
  const timer = setTimeout(() => end(false), maxWaitMs);
  const stopListening = bus.onConnectivity((up) => {
    if (!up) end(true);
  });
  try {
    for (const service of services) bus.nc.publish(`$SRV.PING.${service}`, "", { reply: inbox });
    if (await ended) throw cutOff();
    return present;
  } finally {
    clearTimeout(timer);
    stopListening();
    if (!subscription.isClosed()) subscription.unsubscribe();
  }
}
