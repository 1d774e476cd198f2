/**
 * The surroundings of the bench of the gate: real NATS, git and engine, an Associate and a Director's parts in this process,
 * and a sandbox-runner in a process of its own, as in the product.
 */
import { execFileSync, spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { readFileSync, rmSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { BUCKETS } from "@antiphon/contracts";
import { createLogger, openBlobs, openKv, sandboxClient, type Blobs } from "@antiphon/runtime";
import { startLauncher } from "@antiphon/git";
import { Repositories } from "../../services/director/src/repositories/repositories.ts";
import type { CleanRoomPort, RepositoryPort } from "../../services/director/src/ports.ts";
import { CleanRoom } from "../../services/director/src/verification/clean-room.ts";
import { VerdictEvidence } from "../../services/director/src/verification/verdict-evidence.ts";
import { openWorld, type World } from "../integration/associate/associate-world.ts";
import { sandboxImage } from "../support/docker.ts";
import { tempDir } from "../support/repo.ts";

export interface Ports {
  readonly repository: RepositoryPort;
  readonly room: CleanRoomPort;
  readonly evidence: VerdictEvidence;
  readonly files: Blobs;
}

export interface GateWorld {
  readonly world: World;
  readonly ports: Ports;
  /** Waits until the runner has its warm sandboxes again and no other: a run finds them so. */
  pooled(): Promise<void>;
  close(): Promise<void>;
}

export async function openGateWorld(): Promise<GateWorld> {
  await startLauncher(); // As the Director and the Associate do.
  const world = await openWorld();
  await Promise.all(world.runners.map((runner) => runner.stop()));
  const directory = tempDir("antiphon-gate-");
  const instance = `${world.instance}-gate`;
  const runner = launchRunner(world.nats.url, instance, directory);
  await world.associate("gate");
  const { bus } = world;
  const trees = openBlobs(bus, BUCKETS.repos);
  const files = openBlobs(bus, BUCKETS.evidenceFiles);
  const signer = { publicKey: Buffer.alloc(32), sign: () => Buffer.alloc(64) };
  const log = createLogger("bench", { level: "silent" });
  const ports: Ports = {
    repository: new Repositories(trees, { roots: null }, signer, log),
    room: new CleanRoom(sandboxClient(bus, { requester: "bench" }), files),
    evidence: new VerdictEvidence(openKv(bus, BUCKETS.evidence), files, "bench"),
    files,
  };
  return {
    world,
    ports,
    pooled: () => pooled(instance),
    async close() {
      runner.kill("SIGTERM");
      if (runner.exitCode === null) await once(runner, "exit");
      rmSync(directory, { recursive: true, force: true });
      await world.close();
    },
  };
}

function launchRunner(natsUrl: string, instance: string, directory: string): ChildProcess {
  const program = fileURLToPath(new URL("../support/runner-process.ts", import.meta.url));
  return spawn(process.execPath, ["--import", "tsx", program], {
    env: {
      ...process.env,
      ANTIPHON_NATS_URL: natsUrl,
      ANTIPHON_UNSAFE_TRUST: "1",
      ANTIPHON_INSTANCE: instance,
      ANTIPHON_STATE_DIR: directory,
      ANTIPHON_SANDBOX_IMAGE: sandboxImage(),
      ANTIPHON_LOG_LEVEL: "error",
    },
    stdio: ["ignore", "ignore", "inherit"],
  });
}

/** Waits until an instance has warm sandboxes alone, as many as it keeps. */
export async function pooled(instance: string): Promise<void> {
  const filter = ["--filter", `label=antiphon.instance=${instance}`];
  let [before, quiet] = ["", 0];
  while (quiet < 8) {
    const text = docker(["ps", "--all", "--format", "{{.ID}} {{.Names}}", ...filter]);
    const found = text.split("\n").map((line) => line.split(" "));
    const isWarm = found.every(([, name = ""]) => name.includes("-warm-"));
    const worked = isWarm ? workOf(found.map(([id = ""]) => id)) : "";
    quiet = isWarm && worked === before ? quiet + 1 : 0;
    before = worked;
    await new Promise((resolve) => setTimeout(resolve, 80));
  }
}

/** The processor time of each supervisor. One that still reads the files of its workspace is not ready. */
function workOf(ids: readonly string[]): string {
  try {
    const pids = docker(["inspect", "--format", "{{.State.Pid}}", ...ids]).split("\n");
    return pids.map((pid) => cpuTimeOf(readFileSync(`/proc/${pid}/stat`, "latin1"))).join(" ");
  } catch {
    return `changing at ${Date.now()}`;
  }
}

/** The fields 14 and 15 of the file; the name, which is the second, may hold spaces. */
const cpuTimeOf = (stat: string): string =>
  stat
    .slice(stat.lastIndexOf(")") + 2)
    .split(" ")
    .slice(11, 13)
    .join("+");

const docker = (args: readonly string[]): string =>
  execFileSync("docker", args, { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] }).trim();
