import { topologyOf } from "@antiphon/contracts";
import type { TallyName } from "@antiphon/contracts";
import type { Bus } from "./bus.ts";

/**
 * How many runs are accepted and not closed, by two consumers that nobody pulls from: the server keeps their counts of
 * waiting messages, also across restarts and purges. Two small requests a partition; no run is read.
 */
export async function countOpenRuns(bus: Bus): Promise<number> {
  const [accepted, closed] = await Promise.all([count(bus, "tally-intent"), count(bus, "tally-closed")]);
  return Math.max(0, accepted - closed);
}

async function count(bus: Bus, name: TallyName): Promise<number> {
  const specs = topologyOf(bus.partitions).consumers.filter((spec) => spec.name === name);
  const infos = await Promise.all(specs.map(({ stream }) => bus.jsm.consumers.info(stream, name)));
  return infos.reduce((sum, { num_pending }) => sum + num_pending, 0);
}
