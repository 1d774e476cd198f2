import { topologyOf } from "@antiphon/contracts";
import type { TallyName } from "@antiphon/contracts";
import type { Bus } from "../nats/bus.ts";

/**
 * Counts the runs that are accepted and not closed, by two consumers that nobody pulls from: the server maintains their
 * counts of waiting messages across restarts and purges. It takes two small requests per partition and reads no run.
 */
export async function countOpenRuns(bus: Bus): Promise<number> {
  const [accepted, closed] = await Promise.all([count(bus, "tally-intent"), count(bus, "tally-closed")]);
  return Math.max(0, accepted - closed);
}

export interface Backlog {
  /** Dispatches that no Associate has taken yet. */
  readonly ready: number;
  /** Dispatches that an Associate is working on. */
  readonly atWork: number;
}

/** The Associates' backlog by the server's counts. */
export async function associatesBacklog(bus: Bus): Promise<Backlog> {
  const specs = topologyOf(bus.partitions).consumers.filter((spec) => spec.name === "associate");
  const infos = await Promise.all(specs.map(({ stream, name }) => bus.jsm.consumers.info(stream, name)));
  const sum = (of: "num_pending" | "num_ack_pending"): number =>
    infos.reduce((total, info) => total + info[of], 0);
  return { ready: sum("num_pending"), atWork: sum("num_ack_pending") };
}

async function count(bus: Bus, name: TallyName): Promise<number> {
  const specs = topologyOf(bus.partitions).consumers.filter((spec) => spec.name === name);
  const infos = await Promise.all(specs.map(({ stream }) => bus.jsm.consumers.info(stream, name)));
  return infos.reduce((sum, { num_pending }) => sum + num_pending, 0);
}
