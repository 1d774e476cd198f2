/** The services of the product over the simulated connection: wired as in their `wiring.ts`, with simulated IO. */
import { createHash, createPrivateKey, createPublicKey, sign } from "node:crypto";
import { BUCKETS, thumbprintOf } from "@antiphon/contracts";
import { busOver } from "../../../runtime/src/nats/bus.ts";
import { RecordReader } from "../../../runtime/src/journal/record-reader.ts";
import { openKv, sandboxClient, uniqueId, unsafeTrust } from "../../../runtime/src/index.ts";
import type { Bus, Logger, SigningKey } from "../../../runtime/src/index.ts";
import { CleanRoom } from "../../../services/director/src/verification/clean-room.ts";
import { VerdictEvidence } from "../../../services/director/src/verification/verdict-evidence.ts";
import { readDirectorConfig } from "../../../services/director/src/config.ts";
import type { DirectorConfig } from "../../../services/director/src/config.ts";
import { directOver } from "../../../services/director/src/directing.ts";
import { associateOver } from "../../../services/associate/src/wiring.ts";
import { natsBackend } from "../../../services/gateway/src/backend/nats-backend.ts";
import type { SessionStore } from "../../../services/gateway/src/sessions/session-register.ts";
import { LOCAL } from "../../../services/gateway/src/policy/built-in-policies.ts";
import { openGateway, type Gateway } from "../../../services/gateway/src/gateway.ts";
import { startRouter } from "../../../services/router/src/wiring.ts";
import { Chance } from "../chance.ts";
import { SimNode } from "../node.ts";
import { SimConnection } from "../server/connection.ts";
import { Broker } from "../server/broker.ts";
import { Timeline } from "../timeline.ts";
import { PEOPLE } from "./run-plan.ts";
import { attemptPorts } from "./attempt-ports.ts";
import { SimBlobs, type Objects } from "./sim-blobs.ts";
import { SimRepository, type SimGit } from "./sim-repository.ts";
import { startRunner, type ContainerLife } from "./sim-runner.ts";

/** Command sessions are not part of this world. */
const NO_SESSIONS: SessionStore = {
  write: () => Promise.reject(new Error("no sessions in the simulation")),
  read: () => Promise.resolve(null),
  follow: () => {
    throw new Error("no sessions in the simulation");
  },
  opened: () => Promise.resolve([]),
  claim: () => Promise.resolve(false),
  claims: () => Promise.resolve([]),
  policies: () => Promise.resolve(LOCAL),
};

export interface Surroundings {
  broker: Broker;
  git: SimGit;
  files: Objects;
  containers: ContainerLife[];
  chance: Chance;
  log: Logger;
  /** The gateways that are up, for the client. */
  gateways: Map<SimNode, Gateway>;
  /** Sweeps are more frequent than in production, so that a run does not take an hour of virtual time to end. */
  sweep: DirectorConfig["sweep"];
}

/**
 * Reads the records for all processes of all worlds, and for the history. Its cache is keyed by digest, so it answers as a
 * reader of each process would, and decodes a record once instead of once per process.
 */
export const READER = new RecordReader(unsafeTrust);

/** Starts the service of `node`, as that node. */
export async function boot(node: SimNode, world: Surroundings): Promise<void> {
  const connection = new SimConnection(world.broker, node);
  const bus = await busOver(connection.asClient(), "confirmed", {
    servers: "",
    name: node.name,
    log: world.log,
  });
  Object.assign(bus, { records: READER });
  const { log } = world;
  const { signal } = new AbortController();
  switch (node.kind) {
    case "router":
      startRouter({ bus, log, signal }, 16);
      return;
    case "director":
      return bootDirector(bus, node, world);
    case "associate":
      await associateOver(
        { bus, log, signal },
        { associate: `as_${node.name}`, slots: 2, cacheDir: "", claimsDir: null, sandboxPatienceMs: 30_000 },
        attemptPorts({
          bus,
          log,
          associate: `as_${node.name}`,
          files: blobsOf(node, world),
          recorded: blobsOf(node, world),
        }),
        reporterOf(node),
      );
      return;
    case "gateway": {
      const gateway = openGateway(
        natsBackend(bus, log, { maxOpenRuns: 10_000 }),
        NO_SESSIONS,
        () => `run_${uniqueId()}`,
        {
          people: PEOPLE,
        },
      );
      world.gateways.set(node, gateway);
      node.onCrash(() => world.gateways.delete(node));
      return;
    }
    case "runner":
      startRunner({ ...world, bus, node, slots: 4, now: () => world.broker.timeline.now });
      return;
    case "client":
    case "server":
      throw new Error(`${node.kind} is no service`);
  }
}

function bootDirector(bus: Bus, node: SimNode, world: Surroundings): void {
  const { log, sweep } = world;
  const files = blobsOf(node, world);
  const { signal } = new AbortController();
  directOver(
    { bus, log, signal },
    { ...readDirectorConfig({}), sweep },
    {
      repository: new SimRepository(world.git, node),
      room: new CleanRoom(sandboxClient(bus, { requester: node.name }), files),
      evidence: new VerdictEvidence(openKv(bus, BUCKETS.evidence), files, node.name),
    },
    QUICK_KEY,
  );
}

/** Signs by digest: another suite tests signatures, and Ed25519 would take half of the time. */
const QUICK_KEY: SigningKey = {
  jwk: { kty: "OKP", crv: "Ed25519", x: "c2lt", kid: "sim", use: "sig" },
  sign: (bytes) => createHash("sha512").update(bytes).digest(),
};

const PKCS8_ED25519 = Buffer.from("302e020100300506032b657004220420", "hex");

/** A key of the process's own, as an Associate makes one at its start; from its name, so that a seed gives the same world. */
function reporterOf({ name }: SimNode): SigningKey {
  const seed = createHash("sha256").update(name).digest();
  const key = createPrivateKey({
    key: Buffer.concat([PKCS8_ED25519, seed]),
    format: "der",
    type: "pkcs8",
  });
  const { x = "" } = createPublicKey(key).export({ format: "jwk" });
  return {
    jwk: { kty: "OKP", crv: "Ed25519", x, kid: thumbprintOf(x), use: "sig" },
    sign: (bytes) => sign(null, bytes, key),
  };
}

function blobsOf(node: SimNode, { broker, files }: Surroundings): SimBlobs {
  return new SimBlobs(BUCKETS.evidenceFiles, files, node, () => broker.up);
}

/**
 * The client library seeds the names of its inboxes from the platform's randomness once per process. This makes it do so
 * before any world begins; otherwise the first world of a process would differ from the next.
 */
export async function primeInboxNames(): Promise<void> {
  const timeline = new Timeline();
  const chance = new Chance(0);
  const broker = new Broker(timeline, chance);
  const node = new SimNode("prime", "client", timeline, chance);
  await busOver(new SimConnection(broker, node).asClient(), "confirmed", { servers: "", name: "prime" });
}
