import { setMaxListeners } from "node:events";
import { AntiphonError } from "@antiphon/contracts";
import type { Bus } from "../nats/bus.ts";
import { connectBus } from "../nats/bus.ts";
import type { RuntimeConfig } from "../process/config.ts";
import { nodeId } from "../process/ids.ts";
import type { Logger } from "../process/logger.ts";
import { measureBus } from "./bus-metrics.ts";
import { openMetrics, type Metrics } from "./metrics.ts";
import { serveMetrics } from "./metrics-server.ts";
import { readNatsUser } from "../nats/nats-user.ts";
import { openTracer } from "../tracing/open-tracer.ts";
import { provision } from "../topology/provision.ts";
import { answerServiceRequests } from "../nats/service-endpoints.ts";
import { openTrust, trustToBeMade, unsafeTrust, type Trust } from "../journal/trust.ts";
import { VERSION } from "./version.ts";
import { withDeadline } from "../process/with-deadline.ts";

/**
 * The life of a service, the same for every role. service-process.ts gives it a process.
 *
 * Lifecycle: starting -> ready -> draining -> stopped. Starting: connect, provision, start the role. Ready: answers
 * $SRV requests. Draining (`stop`): no new work, held work is finished within `drainMs`; then `signal` aborts and the rest is
 * handed back.
 *
 * Nothing is read before the trusted keys are known; without them a service does not start. If one part fails to drain,
 * the error is logged and becomes the exit code, but the other parts finish and the connection is closed all the same.
 *
 * Promises:
 *   runtime/J13 Because operators and supervisors act on these signs, `ready` means that the server is durable, the
 *     topology is in place and the role has started, an outage of NATS ends no service while a final close does, and
 *     every failure ends with an exit code and one JSON line with code and remedy on standard error.
 */
export interface ServiceContext {
  bus: Bus;
  log: Logger;
  /** Aborts at the hard stop, after the drain. */
  signal: AbortSignal;
  config: RuntimeConfig;
  /** Unique name of this process: `<service>_…`. */
  node: string;
  /** The process's metrics; null without ANTIPHON_METRICS_PORT. A role that serves them by itself opens its own. */
  metrics: Metrics | null;
}

/** Returned by a role's start. Consumptions and rpc endpoints drain by themselves; this is for everything else. */
export interface Role {
  drain?(): Promise<void>;
}

export interface ServiceDefinition {
  /** `router`, `director`, ...: shown by `nats micro ls`. */
  name: string;
  /** Default: the version of this build. */
  version?: string;
  description?: string;
  /** True for a Director: it creates the file with the trusted keys if there is none. Other services wait for it. */
  makesTrust?: boolean;
  start(context: ServiceContext): Promise<Role | void>;
}

export interface RunningService {
  bus: Bus;
  node: string;
  /** Drains and closes. Idempotent. After everything is closed, rejects with the error of the first failed drain. */
  stop(): Promise<void>;
}

/**
 * Time between the hard stop and the end of the connection, for interrupted work to report itself and clean up (a
 * container takes up to 4 s). Together with the drain it stays below limits.drainMs.
 */
const lastWordsMs = 4_500;

/** Starts a service without signal handlers or an exit of the process. */
export async function startService(
  definition: ServiceDefinition,
  config: RuntimeConfig,
  log: Logger,
): Promise<RunningService> {
  const node = nodeId(definition.name);
  const trust = await trustOf(definition, config);
  const tracer = openTracer(config.traces, { service: definition.name, node }, log);
  const bus = await connectBus({
    servers: config.natsUrl,
    name: node,
    log,
    trust,
    tracer,
    unsafeDurability: config.unsafeDurability,
    ...(config.natsCa === null ? {} : { ca: config.natsCa }),
    ...(config.natsMonitorUrl === null ? {} : { monitorUrl: config.natsMonitorUrl }),
    ...credentialsOf(definition, config),
  });
  const hard = new AbortController();
  setMaxListeners(0, hard.signal);
  const closers: (() => void)[] = [];
  let role: Role | void;
  try {
    if (config.unsafeTrust) log.warn("ANTIPHON_UNSAFE_TRUST: signatures of decisions are not checked");
    if (bus.durability === "waived") log.warn("durability check waived: acknowledged records can be lost");
    const report = await provision(bus, config.deployment);
    if (report.created.length > 0 || report.updated.length > 0) log.info(report, "topology provisioned");
    closers.push(bus.onConnectivity((up) => up && void provisionAgain(bus, config, log)));
    const metrics = config.metricsPort === null ? null : await openMetrics(definition.name);
    role = await definition.start({ bus, log, signal: hard.signal, config, node, metrics });
    const identity = {
      name: definition.name,
      id: node,
      version: definition.version ?? VERSION,
      description: definition.description ?? `Antiphon ${definition.name}`,
      startedAt: new Date(),
      principal: bus.principal,
      noSpace: () => bus.storage.words(),
    };
    closers.push(answerServiceRequests(bus.nc, identity, bus.endpoints)); // runtime/J13
    await bus.nc.flush(); // A request may come as soon as the service says that it is ready.
    if (metrics !== null) {
      measureBus(metrics, bus, identity.version);
      const place = { host: config.metricsHost, port: config.metricsPort ?? 0 };
      const served = await serveMetrics(metrics, bus, place);
      closers.push(() => served.close());
      log.info({ ...place, port: served.port }, "serving metrics");
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
        log.error({ ...error.toJSON(), err: thrown }, "a part failed to drain; the others continue");
      };
      const parts = [bus.drain(), (async () => role?.drain?.())()];
      const drained = Promise.all(parts.map((part) => part.catch(failed)));
      await withDeadline(config.drainMs, drained, () => log.warn("drain took too long; handing work back"));
      hard.abort();
      const told = drained.then(() => tracer.close());
      await withDeadline(lastWordsMs, told, () => log.warn("some handlers did not stop"));
      await bus.close();
      const [failure] = failures;
      if (failure !== undefined) throw failure;
    })();
    return stopped;
  };
  return { bus, node, stop };
}

/** Decides whose signatures the service believes, before it connects. */
function credentialsOf({ name }: ServiceDefinition, { natsToken, natsCreds }: RuntimeConfig) {
  if (natsCreds !== null) return { user: readNatsUser(name, natsCreds) };
  return natsToken === null ? {} : { token: natsToken };
}

async function trustOf({ makesTrust }: ServiceDefinition, config: RuntimeConfig): Promise<Trust> {
  if (config.unsafeTrust) return unsafeTrust;
  const { trustedKeysFile } = config;
  if (trustedKeysFile === null) {
    const detail = "ANTIPHON_TRUSTED_KEYS is not set, so no Director is trusted";
    throw new AntiphonError("ANT_TRUST_MISSING", detail, { data: { variable: "ANTIPHON_TRUSTED_KEYS" } });
  }
  return makesTrust === true ? trustToBeMade(trustedKeysFile) : openTrust(trustedKeysFile);
}

/** A consumer may be missing after an outage (deleted by an operator, or a new store): recreate it and log that. */
async function provisionAgain(bus: Bus, config: RuntimeConfig, log: Logger): Promise<void> {
  try {
    const report = await provision(bus, config.deployment);
    if (report.created.length > 0 || report.updated.length > 0)
      log.warn(report, "restored missing topology after an outage");
  } catch (error) {
    log.warn({ err: error }, "topology could not be checked after an outage");
  }
}
