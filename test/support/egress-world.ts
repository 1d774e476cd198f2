/** A sandbox-runner and an egress gateway over real NATS and the real engine, with upstreams on loopback. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { BUCKETS, type EgressGrant, type SandboxOutcome, type SandboxRequest } from "@antiphon/contracts";
import {
  createLogger,
  openBlobs,
  readRuntimeConfig,
  sandboxClient,
  startService,
  type Blobs,
  type Bus,
  type Logger,
  type RunningService,
} from "@antiphon/runtime";
import type { EgressSettings } from "../../services/egress-gateway/src/config.ts";
import type { LogEntry } from "../../services/egress-gateway/src/policy/log-entry.ts";
import { startEgress } from "../../services/egress-gateway/src/wiring.ts";
import type { SandboxConfig } from "../../services/sandbox-runner/src/config.ts";
import { startSandboxRunner } from "../../services/sandbox-runner/src/wiring.ts";
import { sandboxImage, testEngine, type TestEngine } from "./docker.ts";
import { NAMES, startUpstreams, type Upstreams } from "./egress-upstreams.ts";
import { startNats, type NatsServer } from "./nats.ts";

/** A secret that must never reach a sandbox, a log or a blob; each test searches for it. */
export const CANARY = "canary-4f1c9e7ab2d84c55";
const PRICE = {
  input: 1_000_000,
  output: 2_000_000,
  cache_read: 100_000,
  cache_write: 2_000_000,
  max_output: 100,
};

export interface Job {
  readonly outcome: SandboxOutcome;
  /** Output of the only step. */
  readonly out: string;
  readonly log: readonly LogEntry[];
}

export interface EgressWorld {
  readonly nats: NatsServer;
  readonly bus: Bus;
  readonly blobs: Blobs;
  readonly engine: TestEngine;
  readonly upstreams: Upstreams;
  readonly gitRoot: string;
  readonly services: { egress: RunningService; runner: RunningService };
  /** All log output of both services. */
  readonly logged: string[];
  /** Replaces the gateway with a new one. */
  restartEgress(): Promise<void>;
  run(grant: EgressGrant | null, script: string, more?: Partial<SandboxRequest>): Promise<Job>;
  close(): Promise<void>;
}

export function grantOf(
  allowlist: readonly string[],
  budget: EgressGrant["model_budget"] = null,
): EgressGrant {
  return { profile: { mode: "allowlist", allowlist: [...allowlist] }, model_budget: budget };
}

export const GIT_AND_PACKAGES: EgressGrant = {
  profile: { mode: "git+pkg", allowlist: [] },
  model_budget: null,
};

export function settingsFor(upstreams: Pick<Upstreams, "authority" | "overrides">): EgressSettings {
  const rule = (host: string, kind: "git" | "package" | "model" | "open", terminate = true) => ({
    host,
    kind,
    ports: [443, 80],
    terminate,
  });
  const secrets = [CANARY, Buffer.from(CANARY).toString("base64")];
  const credential = (host: string, header: string, value: string) => ({ host, header, value, secrets });
  return {
    listen: "127.0.0.1",
    advertise: "127.0.0.1",
    ports: null,
    file: null,
    unusable: [],
    known: [
      rule(NAMES.openai, "model"),
      rule(NAMES.anthropic, "model"),
      rule(NAMES.pinned, "open", false),
      rule(NAMES.git, "git"),
      rule(NAMES.packages, "package"),
    ],
    models: new Map([
      [
        NAMES.openai,
        {
          shape: "openai",
          upstream: null,
          base: null,
          prices: { "m-1": PRICE },
          noKey: null,
          isShipped: false,
        },
      ],
      [
        NAMES.anthropic,
        {
          shape: "anthropic",
          upstream: null,
          base: null,
          prices: { "a-1": PRICE },
          noKey: null,
          isShipped: false,
        },
      ],
    ]),
    credentials: [
      credential(NAMES.openai, "authorization", `Bearer ${CANARY}`),
      credential(NAMES.anthropic, "x-api-key", CANARY),
      credential(NAMES.echo, "authorization", `Bearer ${CANARY}`),
    ],
    upstreamCa: [upstreams.authority],
    overrides: upstreams.overrides,
    privateHosts: [],
    proxy: null,
  };
}

const runtimeOf = (natsUrl: string) => ({
  ...readRuntimeConfig({ ANTIPHON_UNSAFE_TRUST: "1" }),
  natsUrl,
  drainMs: 5_000,
});

/** A sandbox-runner of this process. What it keeps is in the directory, and in volumes of the instance. */
export function startRunner(
  natsUrl: string,
  {
    instance,
    directory,
    log,
  }: { readonly instance: string; readonly directory: string; readonly log: Logger },
): Promise<RunningService> {
  const config: SandboxConfig = {
    mode: "production",
    provider: "docker",
    e2b: { apiKey: null, domain: null, apiUrl: null, sandboxUrl: null },
    path: process.env["PATH"] ?? "",
    home: "/nowhere",
    instance,
    image: sandboxImage(),
    allow: [],
    allowlistFile: join(directory, "allow.json"),
    slots: 4,
    warm: 2,
    runtime: "runc",
    treeDirectory: join(directory, "trees"),
    swapBytes: 0,
    treeBytes: 1e9,
    keyFile: join(directory, "runner-key.pem"),
    trustedRunnersFile: null,
  };
  return startService(
    { name: "sandbox-runner", start: (context) => startSandboxRunner(context, () => config) },
    runtimeOf(natsUrl),
    log,
  );
}

/** @param current the gateway's settings, asked anew for each sandbox. Default: those of the upstreams. */
export async function egressWorld(
  area: string,
  current: (upstreams: Upstreams) => EgressSettings = settingsFor,
): Promise<EgressWorld> {
  const nats = await startNats();
  const directory = mkdtempSync(join(tmpdir(), "antiphon-egress-"));
  const gitRoot = join(directory, "git");
  const upstreams = await startUpstreams(gitRoot);
  const engine = testEngine(area);
  const logged: string[] = [];
  const log = createLogger("test", {
    level: "debug",
    destination: { write: (line: string) => void logged.push(line) },
  });
  const runtime = runtimeOf(nats.url);
  const egress = (): Promise<RunningService> =>
    startService(
      {
        name: "egress",
        start: (context) => Promise.resolve(startEgress(context, { current: () => current(upstreams) })),
      },
      runtime,
      log,
    );
  const runner = await startRunner(nats.url, { instance: engine.instance, directory, log });
  const services = { egress: await egress(), runner };
  const bus = await nats.connect();
  const blobs = openBlobs(bus, BUCKETS.evidenceFiles);
  const client = sandboxClient(bus, { requester: "test" });
  let serial = 0;
  return {
    nats,
    bus,
    blobs,
    engine,
    upstreams,
    gitRoot,
    services,
    logged,
    restartEgress: async () => {
      await services.egress.stop();
      services.egress = await egress();
    },
    run: async (grant, script, more = {}) => {
      const step = {
        id: "step",
        argv: ["bash", "-c", script],
        env: {},
        timeoutMs: 60_000,
        continueOnFailure: true,
      };
      const request: SandboxRequest = {
        jobId: `job-${(serial += 1)}`,
        run: "run_egress",
        task: "T-001",
        epoch: 1,
        purpose: "attempt",
        image: null,
        budgetMs: 90_000,
        workspace: { tree: null, files: [], overlay: null, deletions: [] },
        steps: [step],
        collect: false,
        ...(grant === null ? {} : { egress: grant }),
        ...more,
      };
      const outcome = await client.run(request, { signal: new AbortController().signal });
      const ref = outcome.egress?.log ?? null;
      const lines = ref === null ? "" : (await blobs.get(ref)).toString("utf8");
      const [first] = outcome.steps;
      return {
        outcome,
        out: `${first?.stdout.tail ?? ""}${first?.stderr.tail ?? ""}`,
        log: lines
          .split("\n")
          .filter((line) => line !== "")
          .map((line) => JSON.parse(line) as LogEntry),
      };
    },
    close: async () => {
      await services.runner.stop();
      await services.egress.stop();
      await upstreams.close();
      rmSync(directory, { recursive: true, force: true });
      await nats.close();
      await engine.expectNoContainers();
    },
  };
}
