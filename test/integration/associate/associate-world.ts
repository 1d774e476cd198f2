/**
 * The surroundings of an Associate: a real nats-server, a real sandbox-runner on the real engine, and the tree of a real
 * repository in the object store. The test plays the Director: it writes dispatches and reads the results.
 */
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { AntiphonError, BUCKETS, decode, keys, limits, subjects } from "@antiphon/contracts";
import type {
  DispatchBody,
  EvidenceManifest,
  LogLine,
  ResultBody,
  StoredRecord,
  TreeRef,
} from "@antiphon/contracts";
import {
  createLogger,
  openBlobs,
  openJournal,
  openKv,
  readRuntimeConfig,
  startService,
} from "@antiphon/runtime";
import type { Bus, Journal, Logger, RunningService } from "@antiphon/runtime";
import { dispatchOf } from "../../../services/associate/src/testing/dispatch.fixture.ts";
import { startAssociate } from "../../../services/associate/src/wiring.ts";
import { readSandboxConfig } from "../../../services/sandbox-runner/src/config.ts";
import { startSandboxRunner } from "../../../services/sandbox-runner/src/wiring.ts";
import { eventually, startNats } from "../../support/nats.ts";
import type { NatsServer } from "../../support/nats.ts";
import { makeRepo, tempDir } from "../../support/repo.ts";
import type { FilesSpec } from "../../support/repo.ts";
import { exportedTree } from "../../support/exported-tree.ts";

export interface Associate {
  readonly service: RunningService;
  /** Log lines so far, parsed. */
  readonly lines: Record<string, unknown>[];
  /** Ends the connection without a goodbye, as when the process dies. */
  crash(): Promise<void>;
}

export interface Sent {
  readonly runId: string;
  readonly epoch: number;
}

export interface World {
  readonly nats: NatsServer;
  readonly bus: Bus;
  readonly journal: Journal;
  readonly instance: string;
  /** Notes of claims, of all Associates here. */
  readonly claimsDir: string;
  associate(
    name: string,
    over?: { slots?: number; sandboxPatienceMs?: number; drainMs?: number },
  ): Promise<Associate>;
  /** Starts one more sandbox-runner. */
  runner(): Promise<RunningService>;
  readonly runners: RunningService[];
  /** Stores a tree as the Director does. */
  base(files: FilesSpec): Promise<TreeRef>;
  dispatch(body: Partial<DispatchBody>, at?: Partial<Sent>): Promise<Sent>;
  claim(sent: Sent): Promise<StoredRecord>;
  result(sent: Sent, deadlineMs?: number): Promise<ResultBody>;
  reported(sent: Sent, deadlineMs?: number): Promise<Extract<ResultBody, { kind: "reported" }>>;
  manifest(sent: Sent): Promise<EvidenceManifest>;
  text(manifest: EvidenceManifest, path: string): Promise<string>;
  /** Progress lines of all runs. */
  readonly progress: { runId: string; text: string }[];
  containers(runId: string): string[];
  /** Number of dispatches that are not acknowledged or not yet delivered. */
  unfinished(): Promise<number>;
  /** Stops every Associate, so that none takes the dispatches of the next test. */
  stopAssociates(): Promise<void>;
  close(): Promise<void>;
}

export const TASK = "T-001";

export async function openWorld(): Promise<World> {
  const nats = await startNats();
  const stateDir = tempDir("antiphon-associate-");
  const instance = `test-${process.pid}-${Date.now().toString(36)}`;
  const services = new Set<RunningService>();
  const runners: RunningService[] = [];
  const config = readRuntimeConfig({
    ANTIPHON_NATS_URL: nats.url,
    ANTIPHON_UNSAFE_TRUST: "1",
    ANTIPHON_DRAIN_MS: "2000",
  });
  const silent = createLogger("test", { level: "silent" });

  const runner = async (): Promise<RunningService> => {
    const env = {
      ANTIPHON_INSTANCE: instance,
      ANTIPHON_STATE_DIR: stateDir,
      ANTIPHON_SANDBOX_IMAGE: sandboxImage(),
      ANTIPHON_SANDBOX_SLOTS: "4",
      ANTIPHON_SANDBOX_WARM: "2",
    };
    const service = await startService(
      {
        name: "sandbox-runner",
        start: (context) => startSandboxRunner(context, () => readSandboxConfig(env)),
      },
      config,
      silent,
    );
    services.add(service);
    runners.push(service);
    return service;
  };

  await runner();
  const bus = await nats.connect({ name: "director" });
  const journal = openJournal(bus);
  const repos = openBlobs(bus, BUCKETS.repos);
  const evidence = openBlobs(bus, BUCKETS.evidenceFiles);
  const manifests = openKv(bus, BUCKETS.evidence);
  const progress: { runId: string; text: string }[] = [];
  bus.nc.subscribe(subjects.logsAll, {
    callback: (_error, message) => {
      if (!message.subject.endsWith(".progress")) return;
      progress.push({
        runId: message.subject.split(".")[3] ?? "",
        text: (decode(message.data) as LogLine).text,
      });
    },
  });
  let runs = 0;
  let standardBase: TreeRef | null = null;

  const base = async (files: FilesSpec): Promise<TreeRef> => {
    const repo = makeRepo({ files });
    const { tree, tar, files: count, bytes } = await exportedTree(repo.path, repo.head);
    await repos.put(keys.tree(tree), tar);
    return { commit: repo.head, tree, object: keys.tree(tree), bytes, files: count };
  };

  const found = async (
    type: "claim" | "result",
    { runId, epoch }: Sent,
    deadlineMs: number,
  ): Promise<StoredRecord> => {
    let record: StoredRecord | null = null;
    await eventually(
      `a ${type} of ${runId}`,
      async () => {
        record = await journal.find(type, runId, TASK, epoch);
        return record !== null;
      },
      deadlineMs,
    );
    if (record === null) throw new Error("unreachable");
    return record;
  };

  const world: World = {
    nats,
    bus,
    journal,
    instance,
    claimsDir: `${stateDir}/claims`,
    progress,
    runner,
    runners,
    base,
    async associate(name, { drainMs = config.drainMs, ...over } = {}) {
      const lines: Record<string, unknown>[] = [];
      const log: Logger = createLogger("associate", {
        level: "debug",
        destination: { write: (line) => void lines.push(JSON.parse(line) as Record<string, unknown>) },
      });
      const settings = {
        associate: name,
        slots: 2,
        cacheDir: `${stateDir}/trees-${name}`,
        claimsDir: world.claimsDir,
        sandboxPatienceMs: 30_000,
        ...over,
      };
      const service = await startService(
        {
          name: "associate",
          start: async (context) => {
            const consumption = await startAssociate(context, settings);
            return { drain: () => consumption.drain() };
          },
        },
        { ...config, drainMs },
        log,
      );
      services.add(service);
      return {
        service,
        lines,
        async crash() {
          services.delete(service);
          await service.bus.nc.close();
        },
      };
    },
    async dispatch(over, at = {}) {
      standardBase ??= await base({
        "check.sh": 'test "$(cat hello.txt)" = hello\n',
        "README.md": "# Hello\n",
      });
      const runId = at.runId ?? `run_t${process.pid}x${(runs += 1)}`;
      const epoch = at.epoch ?? 1;
      const body = dispatchOf({ base: standardBase, ...over });
      const done = await journal.append({ type: "dispatch", runId, taskId: TASK, epoch, cause: null, body });
      if (done.kind === "conflict") throw new AntiphonError("ANT_JOURNAL_CONFLICT");
      return { runId, epoch };
    },
    claim: (sent) => found("claim", sent, 20_000),
    async result(sent, deadlineMs = 30_000) {
      const record = await found("result", sent, deadlineMs);
      return record.body as ResultBody;
    },
    async reported(sent, deadlineMs) {
      const body = await world.result(sent, deadlineMs);
      if (body.kind !== "reported") throw new Error(`not reported: ${JSON.stringify(body)}`);
      return body;
    },
    async manifest({ runId, epoch }) {
      const entry = await manifests.get(keys.evidence(runId, TASK, epoch));
      if (entry === null) throw new Error(`no manifest of ${runId}`);
      return entry.value as EvidenceManifest;
    },
    async text(manifest, path) {
      const file = manifest.files.find((one) => one.path === path);
      if (file === undefined)
        throw new Error(`no ${path} in ${manifest.files.map((one) => one.path).join(", ")}`);
      return (await evidence.get(file.blob)).toString("utf8");
    },
    // A warm container is labelled before it has a job, so its name shows the run.
    containers: (runId) => dockerPs(`name=-${runId}-`),
    async unfinished() {
      const { num_ack_pending, num_pending } = await bus.jsm.consumers.info("ANT_JOURNAL_0", "associate");
      return num_ack_pending + num_pending;
    },
    async stopAssociates() {
      const gone = [...services].filter((service) => !runners.includes(service));
      for (const service of gone) services.delete(service);
      await Promise.all(gone.map((service) => service.stop()));
    },
    async close() {
      await Promise.all([...services].map((service) => service.stop()));
      await nats.close();
      const left = dockerPs(`label=antiphon.instance=${instance}`);
      if (left.length > 0) throw new Error(`containers left behind: ${left.join(", ")}`);
    },
  };
  return world;
}

function sandboxImage(): string {
  const built = process.env["ANTIPHON_SANDBOX_IMAGE"];
  if (built !== undefined && built !== "") return built;
  const path = new URL("../../../.antiphon/image.json", import.meta.url);
  return (JSON.parse(readFileSync(path, "utf8")) as { id: string }).id;
}

function dockerPs(filter: string): string[] {
  const text = execFileSync("docker", ["ps", "--all", "--quiet", "--filter", filter], { encoding: "utf8" });
  return text.split("\n").filter((id) => id !== "");
}

/** Milliseconds until the server has surely delivered a silent Associate's dispatch again. */
export const REDELIVERY_MS = limits.associateAckWaitMs + 20_000;
