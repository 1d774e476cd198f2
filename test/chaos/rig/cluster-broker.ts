/** A cluster of nats-servers; faults hit its leader, any member, or so many that no majority is left. */
import { journalStream } from "@antiphon/contracts";
import { startNatsCluster, type NatsMember } from "../../support/nats-cluster.ts";
import type { Broker, Strike } from "./broker.ts";
import type { Random } from "./random.ts";

const HEALTHY_MS = 60_000;

export async function clusterBroker(size: number, random: Random): Promise<Broker> {
  const cluster = await startNatsCluster({ size });
  const { members } = cluster;
  const struckBy = async (strike: Strike): Promise<readonly NatsMember[]> => {
    const anyone = random.pick(members);
    if (strike === "random") return [anyone];
    const leader = (await cluster.leader(journalStream(0))) ?? anyone;
    if (strike === "leader") return [leader];
    const others = members.filter((member) => member !== leader);
    return [leader, ...others.slice(0, Math.floor(size / 2))];
  };
  return {
    url: cluster.url,
    ports: members.map(({ port }) => port),
    dirs: members.map(({ storeDir }) => storeDir),
    replicas: size,
    pids: () => members.map((member) => member.pid()),
    connect: (options) => cluster.connect(options),
    async strike(strike, forMs) {
      const struck = await struckBy(strike);
      await Promise.all(struck.map((member) => member.kill()));
      await new Promise((resolve) => setTimeout(resolve, forMs));
      await Promise.all(struck.map((member) => member.restart()));
      await cluster.healthy(HEALTHY_MS); // The next fault must find a cluster that can survive it.
    },
    async revive() {
      const gone = members.filter((member) => !member.running());
      await Promise.all(gone.map((member) => member.restart()));
      if (gone.length > 0) await cluster.healthy(HEALTHY_MS);
    },
    close: () => cluster.close(),
  };
}
