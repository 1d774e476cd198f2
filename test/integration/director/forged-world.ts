/**
 * A Router, a real Director over real git and a gateway on a real nats-server. The test plays the Associate, can hold
 * the clean room back, and is an attacker who may publish to NATS but has no key of a Director.
 */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { BUCKETS, HEADERS, digestOf, encode, journalStream, subjects } from "@antiphon/contracts";
import type { NewRecord, StoredRecord } from "@antiphon/contracts";
import {
  createLogger,
  openBlobs,
  openJournal,
  openKv,
  openSigningKey,
  pinnedTrust,
  readRuntimeConfig,
  startService,
} from "@antiphon/runtime";
import type {
  Bus,
  Journal,
  Logger,
  Role,
  RunningService,
  ServiceContext,
  SigningKey,
} from "@antiphon/runtime";
import { headerLines } from "@antiphon/runtime/nats/wire-headers";
import { reportedBody, runOptions } from "@antiphon/contracts/testing/records";
import { Repositories } from "../../../services/director/src/repositories/repositories.ts";
import { VerdictEvidence } from "../../../services/director/src/verification/verdict-evidence.ts";
import { readDirectorConfig } from "../../../services/director/src/config.ts";
import { directOver } from "../../../services/director/src/directing.ts";
import { NO_ADAPTERS } from "../../../services/gateway/src/sessions/adapter-settings.ts";
import { start as startGateway } from "../../../services/gateway/src/wiring.ts";
import { startRouter } from "../../../services/router/src/wiring.ts";
import { eventually, startNats } from "../../support/nats.ts";
import type { NatsServer } from "../../support/nats.ts";
import { makeRepo, type TestRepo } from "../../support/repo.ts";

export const TASK = "T-001";

export interface ForgedWorld {
  readonly nats: NatsServer;
  readonly bus: Bus;
  /** The journal of a process that trusts the Director's key and has none of its own. */
  readonly journal: Journal;
  readonly key: SigningKey;
  readonly url: string;
  /** The lines that the services logged at level error. */
  readonly alarms: readonly Record<string, unknown>[];
  /** A repository with an unchecked commit on a side branch. */
  makeTarget(): TestRepo & { evil: string };
  openRun(runId: string, repo: TestRepo): Promise<void>;
  /** The attempt's honest result: `a.txt` says "b". */
  propose(runId: string): Promise<void>;
  /** Blocks the clean room until the returned function is called. */
  holdRoom(): () => void;
  /** Publishes a record without the expectation that guards its register. */
  publish(record: NewRecord, headers?: Record<string, string>): Promise<number>;
  ended(runId: string): Promise<StoredRecord[]>;
  close(): Promise<void>;
}

export async function openForgedWorld(): Promise<ForgedWorld> {
  const nats = await startNats();
  const key = openSigningKey(null);
  const alarms: Record<string, unknown>[] = [];
  const gate = { open: Promise.resolve() };
  const pins = join(nats.dir, "trusted-keys.json");
  writeFileSync(pins, JSON.stringify({ keys: [key.jwk] }));
  const environment = { ANTIPHON_NATS_URL: nats.url, ANTIPHON_TRUSTED_KEYS: pins, ANTIPHON_DRAIN_MS: "3000" };
  const config = readRuntimeConfig(environment);
  const log = listening(alarms);
  const serve = (name: string, start: (context: ServiceContext) => Promise<Role>): Promise<RunningService> =>
    startService({ name, start }, config, log);
  const router = await serve("router", (context) => {
    const consumption = startRouter(context, 8);
    return Promise.resolve({ drain: () => consumption.drain() });
  });
  const director = await serve("director", (context) => Promise.resolve(direct(context, key, gate)));
  let url = "";
  const gateway = await serve("gateway", async (context) => {
    const settings = {
      host: "127.0.0.1",
      port: 0,
      token: null,
      people: [],
      directory: { roles: null, tenants: new Map() },
      oidc: null,
      hooks: [],
      allowedHosts: [],
      openRuns: 10_000,
      storeDir: null,
      devcontainer: "require" as const,
      adapters: NO_ADAPTERS,
      page: null,
      packFolders: [],
      notices: null,
      sessionKey: null,
    };
    const role = await startGateway(context, settings);
    url = role.url;
    return role;
  });
  const bus = await nats.connect({ trust: pinnedTrust([key.jwk]), log });
  const journal = openJournal(bus);
  return {
    ...{ nats, bus, journal, key, url, alarms, makeTarget },
    openRun: (runId, repo) => openRun(journal, runId, repo),
    propose: (runId) => propose(bus, journal, runId),
    holdRoom() {
      let go = (): void => undefined;
      gate.open = new Promise((resolve) => (go = resolve));
      return go;
    },
    publish: (record, headers) => publish(bus, record, headers),
    async ended(runId) {
      const isOver = async () => (await journal.find("closed", runId, null, 0)) !== null;
      await eventually(`${runId} is closed`, isOver, 20_000);
      return journal.read(runId);
    },
    async close() {
      await Promise.all([router, gateway].map((service) => service.stop()));
      await director.stop();
      await nats.close();
    },
  };
}

function listening(alarms: Record<string, unknown>[]): Logger {
  const write = (line: string): void => {
    const said = JSON.parse(line) as Record<string, unknown>;
    if (said["level"] === "error") alarms.push(said);
  };
  return createLogger("test", { level: "error", destination: { write } });
}

function direct(context: ServiceContext, key: SigningKey, gate: { open: Promise<void> }): Role {
  const { bus, node, log } = context;
  const signer = {
    publicKey: Buffer.from(key.jwk.x, "base64url"),
    sign: (bytes: Uint8Array) => key.sign(bytes),
  };
  const files = openBlobs(bus, BUCKETS.evidenceFiles);
  const room = {
    async check({ checks, emptied = false }: { checks: readonly string[]; emptied?: boolean }) {
      await gate.open;
      const exitCode = emptied ? 1 : 0; // The check depends on files.
      const silent = { timedOut: false, durationMs: 1, stdout: null, stderr: null, tail: "" };
      const outcomes = checks.map((command) => ({ command, exitCode, ...silent }));
      return { trials: [outcomes, outcomes], written: null };
    },
  };
  const ports = {
    repository: new Repositories(openBlobs(bus, BUCKETS.repos), { roots: null }, signer, log),
    room,
    evidence: new VerdictEvidence(openKv(bus, BUCKETS.evidence), files, node),
  };
  const settings = readDirectorConfig({});
  const sweep = { everyMs: 300, quietMs: 300, patienceMs: 2_000 };
  return directOver(context, { ...settings, sweep }, ports, key);
}

function makeTarget(): TestRepo & { evil: string } {
  const repo = makeRepo({ files: { "a.txt": "a\n" } });
  repo.git("checkout", "-q", "-b", "side");
  const evil = repo.commit("Evil", { "a.txt": "evil\n" });
  repo.git("checkout", "-q", "main");
  return { ...repo, head: repo.git("rev-parse", "main"), evil };
}

async function openRun(journal: Journal, runId: string, repo: TestRepo): Promise<void> {
  const at = { name: "app", path: repo.path };
  await journal.append({
    ...{ type: "intent", runId, taskId: null, epoch: 0, cause: null },
    body: {
      intentId: "it_1",
      intent: { goal: "Add a page", inputs: {}, constraints: { acceptance_criteria: ["it works"] } },
      options: runOptions({ checks: ["true"], repo: at }),
      base: { repo: at, ref: "refs/heads/main", commit: repo.git("rev-parse", "main") },
      principal: "test",
    },
  });
  await eventually("the attempt is dispatched", async () => {
    return (await journal.find("dispatch", runId, TASK, 1)) !== null;
  });
}

const PATCH = `diff --git a/a.txt b/a.txt
--- a/a.txt
+++ b/a.txt
@@ -1 +1 @@
-a
+b
`;

async function propose(bus: Bus, journal: Journal, runId: string): Promise<void> {
  const dispatch = await journal.find("dispatch", runId, TASK, 1);
  const patch = await openBlobs(bus, BUCKETS.evidenceFiles).put(null, Buffer.from(PATCH));
  await journal.append({
    ...{ type: "result", runId, taskId: TASK, epoch: 1 },
    cause: dispatch === null ? null : { seq: dispatch.seq, digest: dispatch.digest },
    body: reportedBody(TASK, { status: "ok", key: `${runId}.1`, patch }),
  });
}

async function publish(bus: Bus, record: NewRecord, headers: Record<string, string> = {}): Promise<number> {
  const payload = encode({ v: 1, ...record });
  const result = await bus.publish({
    ...{ stream: journalStream(0), subject: subjects.journal(record), payload, group: false },
    headers: headerLines({ [HEADERS.digest]: digestOf(payload), ...headers }),
  });
  if (result.kind !== "ok") throw new Error("the forged record was not stored");
  return result.seq;
}
