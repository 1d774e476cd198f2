import type { ChildProcess } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Bus, BusOptions } from "../../runtime/src/index.ts";
import { connectBus, createLogger, unsafeTrust } from "../../runtime/src/index.ts";
import { accountsConfig, endOf, eventually, freePorts, launch } from "./nats.ts";

/**
 * A real cluster of nats-servers on loopback, each with its own store and ports and fsync before each acknowledgement.
 * It is up when JetStream has a leader and every member is current.
 */
export interface NatsMember {
  readonly name: string;
  readonly url: string;
  readonly monitorUrl: string;
  readonly port: number;
  readonly storeDir: string;
  pid(): number;
  running(): boolean;
  /** `kill -9`. The store remains. */
  kill(): Promise<void>;
  /** Starts it again on the same ports and store. */
  restart(): Promise<void>;
  pause(): void;
  resume(): void;
}

export interface NatsCluster {
  readonly members: readonly NatsMember[];
  /** All client URLs, comma separated. */
  readonly url: string;
  connect(options?: Partial<BusOptions>): Promise<Bus>;
  /** The member that leads a stream, or JetStream if no stream is named; null while there is none. */
  leader(stream?: string): Promise<NatsMember | null>;
  /** Resolves when JetStream has a leader and each running member is current. */
  healthy(deadlineMs?: number): Promise<void>;
  close(): Promise<void>;
}

export async function startNatsCluster({ size = 3 }: { size?: number } = {}): Promise<NatsCluster> {
  const dir = mkdtempSync(join(tmpdir(), "antiphon-cluster-"));
  const ports = await freePorts(3 * size);
  const routes = Array.from({ length: size }, (_, i) => `nats://127.0.0.1:${ports[3 * i + 2]}`);
  const members = await Promise.all(
    routes.map((_, i) => startMember(dir, `n${i + 1}`, ports.slice(3 * i, 3 * i + 3), routes)),
  );
  const killAll = (): void => {
    for (const member of members) void member.kill();
  };
  process.once("exit", killAll);
  const buses = new Set<Bus>();
  const url = members.map((member) => member.url).join(",");
  const leader: NatsCluster["leader"] = async (stream) => {
    const name = await leaderName(members, stream);
    return members.find((member) => member.name === name) ?? null;
  };
  const cluster: NatsCluster = {
    members,
    url,
    leader,
    async connect(overrides = {}) {
      const log = createLogger("test", { level: "silent" });
      const bus = await connectBus({ servers: url, name: "test", log, trust: unsafeTrust, ...overrides });
      buses.add(bus);
      return bus;
    },
    healthy: (deadlineMs = 30_000) =>
      eventually(
        "every running member is current",
        async () => {
          const running = members.filter((member) => member.running());
          const names = new Set(running.map(({ name }) => name));
          return (await Promise.all(running.map((member) => isCurrent(member, names)))).every(Boolean);
        },
        deadlineMs,
      ),
    async close() {
      await Promise.all([...buses].map((bus) => bus.close()));
      await Promise.all(members.map((member) => member.kill()));
      process.off("exit", killAll);
      rmSync(dir, { recursive: true, force: true });
    },
  };
  await cluster.healthy();
  return cluster;
}

async function startMember(
  dir: string,
  name: string,
  [port = 0, monitorPort = 0, routePort = 0]: number[],
  routes: readonly string[],
): Promise<NatsMember> {
  const storeDir = join(dir, name, "store");
  mkdirSync(storeDir, { recursive: true });
  const configFile = join(dir, name, "nats.conf");
  writeFileSync(configFile, memberConfig(name, storeDir, port, monitorPort, routePort, routes));
  let child = await launch(configFile, port);
  const alive = (process: ChildProcess): boolean => process.exitCode === null && process.signalCode === null;
  return {
    name,
    url: `nats://127.0.0.1:${port}`,
    monitorUrl: `http://127.0.0.1:${monitorPort}`,
    port,
    storeDir,
    pid: () => child.pid ?? 0,
    running: () => alive(child),
    kill: () => endOf(child, "SIGKILL"),
    async restart() {
      child = await launch(configFile, port);
    },
    pause: () => void child.kill("SIGSTOP"),
    resume: () => void child.kill("SIGCONT"),
  };
}

function memberConfig(
  name: string,
  storeDir: string,
  port: number,
  monitorPort: number,
  routePort: number,
  routes: readonly string[],
): string {
  return `
listen: "127.0.0.1:${port}"
http: "127.0.0.1:${monitorPort}"
server_name: ${name}
max_payload: 8MB
jetstream { store_dir: "${storeDir}", sync_interval: always }
cluster { name: antiphon, listen: "127.0.0.1:${routePort}", routes: [${routes.map((route) => `"${route}"`).join(", ")}] }
${accountsConfig()}`;
}

/**
 * `/healthz` is ok when JetStream and all assets on this member have caught up. The leader must also know the other
 * running members, or it places no stream on them.
 */
async function isCurrent(member: NatsMember, running: ReadonlySet<string>): Promise<boolean> {
  try {
    const answer = await fetch(`${member.monitorUrl}/healthz`, { signal: AbortSignal.timeout(2000) });
    if (answer.status !== 200) return false;
    const jsz = await fetch(`${member.monitorUrl}/jsz`, { signal: AbortSignal.timeout(2000) });
    const { meta_cluster: meta } = (await jsz.json()) as Jsz;
    if (meta?.leader !== member.name) return (meta?.leader ?? "") !== "";
    const others = (meta.replicas ?? []).filter(({ name, offline }) => running.has(name) && offline !== true);
    return others.length === running.size - 1;
  } catch {
    return false; // A member that does not answer is not current.
  }
}

interface Jsz {
  meta_cluster?: { leader?: string; replicas?: { name: string; offline?: boolean }[] };
  account_details?: { stream_detail?: { name: string; cluster?: { leader?: string } }[] }[];
}

async function leaderName(members: readonly NatsMember[], stream?: string): Promise<string | null> {
  for (const member of members.filter((one) => one.running())) {
    try {
      const answer = await fetch(`${member.monitorUrl}/jsz?accounts=true&streams=true`, {
        signal: AbortSignal.timeout(2000),
      });
      const jsz = (await answer.json()) as Jsz;
      const details = (jsz.account_details ?? []).flatMap((account) => account.stream_detail ?? []);
      const name =
        stream === undefined
          ? jsz.meta_cluster?.leader
          : details.find((detail) => detail.name === stream)?.cluster?.leader;
      if (name !== undefined && name !== "" && members.some((one) => one.name === name && one.running())) {
        return name;
      }
    } catch {
      continue; // It is paused or dying; ask the next one.
    }
  }
  return null;
}
