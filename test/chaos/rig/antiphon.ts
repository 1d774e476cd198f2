/** Antiphon as a system under test: the shipped bundle, several processes of each service. */
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { subjects, topology } from "@antiphon/contracts";
import { type Bus } from "@antiphon/runtime";
import { sandboxImage } from "../../support/docker.ts";
import type { NatsServerOptions } from "../../support/nats.ts";
import type { PowerDisk } from "../power-loss/power-disk.ts";
import { singleBroker } from "./broker.ts";
import { clusterBroker } from "./cluster-broker.ts";
import { EngineWay } from "./engine-way.ts";
import { containersLeft, removeContainers, watchEngine } from "./engine-witness.ts";
import { freePort } from "./free-port.ts";
import { readEvidence, readGit, readJournal } from "./journal-witness.ts";
import { seeded } from "./random.ts";
import { mountSmallDisk, type SmallDisk } from "./small-disk.ts";
import type { System, SystemOptions } from "./system.ts";
import { namespaceFor, Victim } from "./victim.ts";

const ROOT = fileURLToPath(new URL("../../..", import.meta.url));
const DRAIN_MS = 32_000;
const READY_MS = 120_000;

export async function startAntiphon(options: SystemOptions): Promise<System> {
  const bundle = await bundleDir();
  const disk = options.diskMebibytes === null ? null : mountSmallDisk(options.diskMebibytes);
  const broker =
    options.servers > 1
      ? await clusterBroker(options.servers, seeded(options.seed + 3))
      : await singleBroker(storeOn(disk, options.power));
  const bus = await broker.connect({ name: "chaos" });
  const instance = `chaos-${process.pid}-${Math.random().toString(36).slice(2, 8)}`;
  const witness = watchEngine(instance);
  const engine = new EngineWay(options.dir);
  await engine.open();
  const urls: string[] = [];
  const victims: Victim[] = [];
  for (const [role, count] of Object.entries(options.sizes)) {
    for (let index = 1; index <= count; index += 1) {
      const name = `${role}-${index}`;
      const listen = role === "gateway" ? `127.0.0.1:${await freePort()}` : "127.0.0.1:0";
      if (role === "gateway") urls.push(`http://${listen}`);
      const env = {
        ANTIPHON_NATS_URL: broker.url,
        ANTIPHON_REPLICAS: String(broker.replicas),
        ANTIPHON_REPO_ROOTS: [tmpdir(), ...(options.power === null ? [] : [options.power.path])].join(":"),
        ANTIPHON_DIRECTOR_KEY: join(options.dir, "director-key.pem"),
        ANTIPHON_TRUSTED_KEYS: join(options.dir, "trusted-keys.json"),
        ANTIPHON_RUNNER_KEY: join(options.dir, "runner-key.pem"),
        ANTIPHON_TRUSTED_RUNNERS: join(options.dir, "trusted-runners.json"),
        ANTIPHON_INSTANCE: instance,
        ANTIPHON_SANDBOX_IMAGE: sandboxImage(),
        ANTIPHON_STATE_DIR: join(options.power?.path ?? options.dir, name),
        ANTIPHON_LISTEN: listen,
        DOCKER_HOST: engine.url,
        ANTIPHON_CHAOS_POISON: role === "associate" ? options.poison : "",
      };
      const namespace = await namespaceFor(broker.ports, options.partitionable.includes(role));
      const args = [join(bundle, "serve.js"), role];
      victims.push(
        new Victim({ name, role, args, env, namespace, logFile: join(options.dir, `${name}.log`) }),
      );
    }
  }
  for (const victim of victims) victim.start();
  await ready(urls, victims);
  return {
    name: "antiphon",
    urls,
    victims,
    broker,
    disk,
    engine,
    power: options.power,
    judgedBy: null,
    ended: () => endedRuns(bus),
    async drain() {
      const codes = await Promise.all(
        victims.map(async (victim) => ({ name: victim.spec.name, code: await victim.retire(DRAIN_MS) })),
      );
      return codes
        .filter(({ code }) => code !== 0)
        .map(({ name, code }) => `${name} ended with ${code ?? "a signal"}`);
    },
    async collect() {
      // The engine's own list decides: a container in it was never destroyed, whatever the events say.
      const untold = containersLeft(instance).filter(
        (id) => !witness.events.some((event) => event.id === id),
      );
      const left = untold.map((id) => ({ id, atMs: Date.now(), action: "create" as const, job: null }));
      const { records } = await readJournal(bus);
      const git = readGit(options.repos);
      const evidence = await readEvidence(bus, records, git.commits);
      const witnessed = { git: true, evidence: true, engine: true, faults: true };
      return { records, ...git, ...evidence, containers: [...witness.events, ...left], witnessed };
    },
    async remove() {
      witness.stop();
      engine.remove();
      removeContainers(containersLeft(instance));
      await bus.close();
      await broker.close();
      for (const { spec } of victims) await spec.namespace?.remove();
      disk?.remove();
    },
  };
}

function storeOn(disk: SmallDisk | null, power: PowerDisk | null): NatsServerOptions {
  if (power !== null) return { storeDir: join(power.path, "store") };
  return disk === null ? {} : { parent: disk.path, maxFileStore: "1GB" };
}

async function bundleDir(): Promise<string> {
  const { ensureBuilt } = (await import(join(ROOT, "scripts/build.mjs"))) as {
    ensureBuilt: (root: string) => Promise<string>;
  };
  return ensureBuilt(ROOT);
}

/** Waits until every process has reported ready. */
async function ready(urls: readonly string[], victims: readonly Victim[]): Promise<void> {
  const until = Date.now() + READY_MS;
  for (;;) {
    const answer = await fetch(`${urls[0]}/services?expect=${victims.length}`).catch(() => null);
    if (answer?.ok === true) {
      const { services } = (await answer.json()) as { services: unknown[] };
      if (services.length >= victims.length) return;
    }
    if (Date.now() > until) {
      throw new Error(`not ready: ${victims.map((one) => `${one.spec.name}: ${one.said(300)}`).join("\n")}`);
    }
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

async function endedRuns(bus: Bus): Promise<Set<string>> {
  const ids = new Set<string>();
  const journals = topology.streams.filter(({ name }) => name.startsWith("ANT_JOURNAL_"));
  for (const [partition, { name }] of journals.entries()) {
    const filter = subjects.partitionType(partition, "closed");
    const info = await bus.jsm.streams.info(name, { subjects_filter: filter });
    for (const subject of Object.keys(info.state.subjects ?? {})) ids.add(subject.split(".")[5] ?? "");
  }
  return ids;
}
