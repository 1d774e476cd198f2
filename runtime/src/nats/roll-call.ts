import { gather } from "../rpc/gather.ts";
import type { Bus } from "./bus.ts";

export interface PresentProcess {
  /** The service, and the unique name of its process. */
  readonly name: string;
  readonly id: string;
  readonly version: string;
  /** The principal of its NATS user, or `shared`. */
  readonly natsUser: string;
  /** Why JetStream refuses what it stores; absent: it does not. */
  readonly noSpace?: string;
}

interface Pong {
  readonly name: string;
  readonly id: string;
  readonly version: string;
  readonly metadata?: { readonly "nats-user"?: string; readonly "no-space"?: string };
}

/**
 * Asks the processes of the named services who they are (`$SRV.PING.<service>`). Ends after `expect` answers or
 * `maxWaitMs`. @throws AntiphonError ANT_NATS_UNREACHABLE if the connection is lost meanwhile.
 */
export function rollCall(
  bus: Bus,
  services: readonly string[],
  expect: number,
  maxWaitMs: number,
): Promise<PresentProcess[]> {
  const subjects = services.map((service) => `$SRV.PING.${service}`);
  return gather(bus, subjects, { expect, maxWaitMs }, (data) => {
    const { name, id, version, metadata } = JSON.parse(Buffer.from(data).toString("utf8")) as Pong;
    const noSpace = metadata?.["no-space"];
    const present = { name, id, version, natsUser: metadata?.["nats-user"] ?? "shared" };
    return noSpace === undefined ? present : { ...present, noSpace };
  });
}
