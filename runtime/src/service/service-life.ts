import { setMaxListeners } from "node:events";
import { AntiphonError } from "@antiphon/contracts";
import type { Bus } from "../nats/bus.ts";
import { connectBus } from "../nats/bus.ts";
import type { RuntimeConfig } from "../process/config.ts";
import { readRuntimeConfig } from "../process/config.ts";
import { nodeId } from "../process/ids.ts";
import type { Logger } from "../process/logger.ts";
import { standardErrorLines } from "../process/log-lines.ts";
import { createLogger } from "../process/logger.ts";
import { openMetrics, serveMetrics, type Measure } from "./metrics.ts";
import { provision } from "../topology/provision.ts";
import { answerServiceRequests } from "../nats/service-endpoints.ts";
import { openTrust, trustToBeMade, unsafeTrust, type Trust } from "../journal/trust.ts";

/**
 * The life of a service process, the same for every role.
 *
 * Lifecycle: starting -> ready -> draining -> stopped. Starting: connect, provision, the role's own start.
 * Ready: answers $SRV requests. Draining (first SIGTERM or SIGINT, or `stop`): no new work, held work is
 * finished, at most `drainMs`; then `signal` aborts and what is left is handed back. A second signal ends the
 * process at once.
 *
 * Invariants:
 *   S1 Ready means: durable server, topology in place, the role's start has returned.
 *   S2 Losing NATS is not an end: the service goes on when it is back. Being closed by it for good is one.
 *   S3 Every end has an exit code, every failure one JSON line on standard error with code and remedy.
 *   S9 Nothing is read before it is known whose decisions are believed; without keys a service does not start.
 *   S7 A part that fails to drain ends itself only: the others finish what they hold, and the hard stop and the close of
 *      the connection come in any case. It is logged when it happens, and is what the process ends with (S3).
 */
export interface ServiceContext {
  bus: Bus;
  log: Logger;
  /** Aborts at the hard stop, after the drain. */
  signal: AbortSignal;
  config: RuntimeConfig;
  /** This process's own name: `<service>_…`. */
  node: string;
}

/** What a role hands back. Consumptions and rpc endpoints drain by themselves; this is for everything else. */
export interface Role {
  drain?(): Promise<void>;
  /** Served beside the process's own metrics. */
  readonly measures?: readonly Measure[];
}

export interface ServiceDefinition {
  /** `router`, `director`, ...: shown by `nats micro ls`. */
  name: string;
  version?: string;
  description?: string;
  /** It makes the file with the trusted keys when there is none: a Director. The others wait for it. */
  makesTrust?: boolean;
  start(context: ServiceContext): Promise<Role | void>;
}

export interface RunningService {
  bus: Bus;
  node: string;
  /** Drains and closes. Idempotent. Rejects, when all is closed, with what the first failing drain threw. */
  stop(): Promise<void>;
}

/**
 * From the hard stop to the end of the connection: what was cut short says so, and puts away what it had (a container
 * takes up to 4 s). With the drain before it, less than limits.drainMs.
 */
const lastWordsMs = 4_500;

/** Starts a service without touching the process: no signal handlers, no exit. For tests and for `runService`. */
export async function startService(
  definition: ServiceDefinition,
  config: RuntimeConfig,
  log: Logger,
): Promise<RunningService> {
  const node = nodeId(definition.name);
  const trust = await trustOf(definition, config);
  const bus = await connectBus({
    servers: config.natsUrl,
    name: node,
    log,
    trust,
    unsafeDurability: config.unsafeDurability,
    ...(config.natsMonitorUrl === null ? {} : { monitorUrl: config.natsMonitorUrl }),
    ...(config.natsToken === null ? {} : { token: config.natsToken }),
  });
  const hard = new AbortController();
  setMaxListeners(0, hard.signal);
  const closers: (() => void)[] = [];
  let role: Role | void;
  try {
    if (config.unsafeTrust) log.warn("ANTIPHON_UNSAFE_TRUST: decisions are believed whoever signed them");
    if (bus.durability === "waived") log.warn("durability check waived: acknowledged records can be lost");
    const report = await provision(bus, config.deployment);
    if (report.created.length > 0 || report.updated.length > 0) log.info(report, "topology provisioned");
    closers.push(bus.onConnectivity((up) => up && void provisionAgain(bus, config, log)));
    role = await definition.start({ bus, log, signal: hard.signal, config, node });
    const identity = {
      name: definition.name,
      id: node,
      version: definition.version ?? "0.0.0",
      description: definition.description ?? `Antiphon ${definition.name}`,
      startedAt: new Date(),
    };
    closers.push(answerServiceRequests(bus.nc, identity, bus.endpoints)); // S1
    if (config.metricsPort !== null) {
      const metrics = await serveMetrics(
        await openMetrics(definition.name, bus, role?.measures ?? []),
        config.metricsPort,
      );
      closers.push(() => metrics.close());
      log.info({ port: metrics.port }, "serving metrics");
    }
  } catch (error) {
    hard.abort();
    await bus.close();
    throw error;
  }

  let stopped: Promise<void> | null = null;
  const stop = (): Promise<void> => {
    stopped ??= (async () => {
      for (const close of closers) close();
      const failures: AntiphonError[] = [];
      const failed = (thrown: unknown): void => {
        const error = AntiphonError.from(thrown);
        failures.push(error);
        log.error({ ...error.toJSON(), err: thrown }, "a part did not drain; the others go on");
      };
      const parts = [bus.drain(), (async () => role?.drain?.())()];
      const drained = Promise.all(parts.map((part) => part.catch(failed))); // S7
      await within(config.drainMs, drained, () => log.warn("drain took too long; handing work back"));
      hard.abort();
      await within(lastWordsMs, drained, () => log.warn("some handlers did not stop"));
      await bus.close();
      const [failure] = failures;
      if (failure !== undefined) throw failure; // S7
    })();
    return stopped;
  };
  return { bus, node, stop };
}

/** S9 */
async function trustOf({ makesTrust }: ServiceDefinition, config: RuntimeConfig): Promise<Trust> {
  if (config.unsafeTrust) return unsafeTrust;
  const { trustedKeysFile } = config;
  if (trustedKeysFile === null) {
    const detail = "ANTIPHON_TRUSTED_KEYS is not set: whose decisions are to be believed?";
    throw new AntiphonError("ANT_TRUST_MISSING", detail, { data: { variable: "ANTIPHON_TRUSTED_KEYS" } });
  }
  return makesTrust === true ? trustToBeMade(trustedKeysFile) : openTrust(trustedKeysFile);
}

/** After an outage a consumer may be gone (an operator, another store): put back what is missing, say so. */
async function provisionAgain(bus: Bus, config: RuntimeConfig, log: Logger): Promise<void> {
  try {
    const report = await provision(bus, config.deployment);
    if (report.created.length > 0 || report.updated.length > 0)
      log.warn(report, "topology was mended after an outage");
  } catch (error) {
    log.warn({ err: error }, "topology could not be checked after an outage");
  }
}

/** The body of every service's `main.ts`. Returns when the service has stopped; the process then exits. */
export async function runService(
  definition: ServiceDefinition,
  overrides: { config?: RuntimeConfig; log?: Logger } = {},
): Promise<void> {
  process.on("uncaughtException", (error) => die(definition.name, error));
  process.on("unhandledRejection", (reason) => die(definition.name, reason));
  try {
    const config = overrides.config ?? readRuntimeConfig();
    const log = overrides.log ?? createLogger(definition.name, { level: config.logLevel });
    const told = firstSignal(log);
    const started = await Promise.race([startService(definition, config, log), told]);
    if (typeof started === "string") {
      log.info({ signal: started }, "stopped before it was ready"); // It holds no work yet: crash-only is enough.
      process.exit(0);
    }
    const service = started;
    log.info({ node: service.node, pid: process.pid, ready: true }, "ready");
    process.send?.({ kind: "ready", service: definition.name });
    const why = await Promise.race([told, service.bus.closed.then(() => "closed" as const)]);
    if (why === "closed")
      throw new AntiphonError("ANT_NATS_UNREACHABLE", "the server ended the connection for good"); // S2
    log.info({ signal: why }, "draining");
    await service.stop();
    log.info("stopped");
    process.exit(0);
  } catch (error) {
    die(definition.name, error); // S3
  }
}

function firstSignal(log: Logger): Promise<NodeJS.Signals> {
  return new Promise((resolve) => {
    let seen = false;
    const hear = (signal: NodeJS.Signals): void => {
      if (seen) {
        log.warn({ signal }, "second signal: leaving at once");
        process.exit(signal === "SIGINT" ? 130 : 143);
      }
      seen = true;
      resolve(signal);
    };
    process.on("SIGTERM", hear);
    process.on("SIGINT", hear);
  });
}

/** One coded line, then the end. */
function die(service: string, thrown: unknown): never {
  const error = AntiphonError.from(thrown);
  const line = { level: "fatal", time: new Date().toISOString(), service, ...error.toJSON() };
  const stack = error.code === "ANT_INTERNAL" && thrown instanceof Error ? { stack: thrown.stack } : {};
  standardErrorLines().flush(); // What led to it comes first.
  process.stderr.write(`${JSON.stringify({ ...line, ...stack })}\n`);
  process.exit(error.exitCode === 0 ? 1 : error.exitCode);
}

async function within(ms: number, work: Promise<unknown>, onLate: () => void): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<"late">((resolve) => {
    timer = setTimeout(() => resolve("late"), ms);
  });
  const first = await Promise.race([work.then(() => "done" as const), late]);
  clearTimeout(timer);
  if (first === "late") onLate();
}
