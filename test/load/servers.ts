/** The NATS under load: one server, or a cluster of three whose streams have three copies; fsync before each answer. */
import { startNats } from "../support/nats.ts";
import { startNatsCluster } from "../support/nats-cluster.ts";

export interface Servers {
  readonly url: string;
  readonly replicas: 1 | 3;
  /** Name to pid. */
  pids(): readonly (readonly [string, number])[];
  /** Whether a process of this name is one of them. */
  has(name: string): boolean;
  /** Kills one with SIGKILL and starts it again. */
  replace(name: string): Promise<void>;
  close(): Promise<void>;
}

export async function startServers(count: 1 | 3): Promise<Servers> {
  return count === 1 ? startOne() : startThree();
}

async function startOne(): Promise<Servers> {
  const nats = await startNats();
  return {
    url: nats.url,
    replicas: 1,
    pids: () => [["nats-server", nats.pid()]],
    has: (name) => name === "nats-server",
    async replace() {
      await nats.kill();
      await nats.restart();
    },
    close: () => nats.close({ checkLeaks: false }),
  };
}

async function startThree(): Promise<Servers> {
  const cluster = await startNatsCluster();
  const names = cluster.members.map((_, i) => `nats-server-${i + 1}`);
  return {
    url: cluster.url,
    replicas: 3,
    pids: () => cluster.members.map((member, i) => [names[i] ?? member.name, member.pid()] as const),
    has: (name) => names.includes(name),
    async replace(name) {
      const member = cluster.members[names.indexOf(name)];
      if (member === undefined) throw new RangeError(`no server ${name}`);
      await member.kill();
      await member.restart();
    },
    close: () => cluster.close(),
  };
}
