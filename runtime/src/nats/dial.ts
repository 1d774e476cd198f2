/** Connects to NATS, and learns what has to be known of the server before it is used. */
import type { JetStreamManager } from "@nats-io/jetstream";
import { nkeyAuthenticator, type NatsConnection } from "@nats-io/nats-core";
import { AntiphonError, JOURNAL_PARTITIONS, journalStream } from "@antiphon/contracts";
import type { NodeConnectionOptions } from "nats";
import { connect } from "nats";
import { backoffMs } from "../process/backoff.ts";
import { partitionsOf } from "../topology/deployment.ts";
import type { BusOptions } from "./bus.ts";
import { natsTls } from "./nats-tls.ts";

// Short, because a starting server refuses connections at once, and each attempt is jittered.
const reconnectPolicy = { baseMs: 25, capMs: 500 };
const oldestServer = [2, 15] as const;

export async function dial(options: BusOptions): Promise<NatsConnection> {
  let attempt = 0;
  const servers = options.servers.split(",");
  const tls = natsTls(servers, options.ca);
  const settings: NodeConnectionOptions = {
    servers,
    name: options.name,
    noAsyncTraces: true,
    timeout: options.connectTimeoutMs ?? 5000,
    maxReconnectAttempts: -1,
    pingInterval: 10_000,
    maxPingOut: 2,
    reconnectDelayHandler: () => backoffMs(attempt++, reconnectPolicy, Math.random()),
    ...(tls === null ? {} : { tls }),
    ...(options.token === undefined ? {} : { token: options.token }),
    ...(options.user === undefined ? {} : { authenticator: nkeyAuthenticator(options.user.seed) }),
  };
  try {
    const nc = await connect(settings);
    void (async () => {
      for await (const status of nc.status()) if (status.type === "reconnect") attempt = 0;
    })();
    return nc;
  } catch (error) {
    const why = tls === null ? "" : `over TLS: ${error instanceof Error ? error.message : String(error)}`;
    throw new AntiphonError(
      "ANT_NATS_UNREACHABLE",
      `no NATS server answers at ${options.servers} ${why}`.trim(),
      {
        data: { servers: options.servers },
        cause: error,
      },
    );
  }
}

/** Reads the number of partitions from an existing journal. `provision` creates a missing one. */
export async function partitionsThere(jsm: JetStreamManager): Promise<number> {
  try {
    return partitionsOf((await jsm.streams.info(journalStream(0))).config);
  } catch (error) {
    if ((error as { status?: number }).status === 404 || (error as { code?: number }).code === 10059) {
      return JOURNAL_PARTITIONS;
    }
    throw AntiphonError.from(error, "ANT_NATS_UNREACHABLE");
  }
}

export function requireVersion(nc: NatsConnection): void {
  const version = nc.info?.version ?? "0.0.0";
  const [major = 0, minor = 0] = version.split(".").map((part) => Number.parseInt(part, 10));
  const old = major < oldestServer[0] || (major === oldestServer[0] && minor < oldestServer[1]);
  if (old) {
    throw new AntiphonError("ANT_NATS_TOO_OLD", `nats-server ${version} is too old; 2.15 is needed`, {
      data: { version },
    });
  }
}
