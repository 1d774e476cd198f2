/**
 * Delivers records twice: it observes deliveries and sometimes sends a negative acknowledgement in a worker's name, so the
 * server delivers the record to another worker while the first is still busy.
 */
import type { Bus } from "@antiphon/runtime";
import type { Random } from "./random.ts";

export interface Duplicates {
  readonly count: () => number;
  stop(): void;
}

export function duplicateDeliveries(bus: Bus, share: number, random: Random): Duplicates {
  let count = 0;
  const subscription = bus.nc.subscribe("_INBOX.>", {
    callback: (error, message) => {
      if (error !== null || message.reply?.startsWith("$JS.ACK.") !== true) return;
      if (random.next() >= share) return;
      count += 1;
      bus.nc.publish(message.reply, "-NAK");
    },
  });
  return { count: () => count, stop: () => subscription.unsubscribe() };
}
