/** Wires the gateway: the HTTP server, the bus and the use cases between them. */
import { BUCKETS, type AntiphonError } from "@antiphon/contracts";
import {
  measureBus,
  measureQueues,
  openKv,
  openMetrics,
  openRunNews,
  uniqueId,
  VERSION,
} from "@antiphon/runtime";
import type { Role, ServiceContext } from "@antiphon/runtime";
import { EventStreams } from "./http/event-stream.ts";
import { openHttpServer } from "./http/http-server.ts";
import { natsBackend } from "./backend/nats-backend.ts";
import { openSessionStore } from "./sessions/session-store.ts";
import { SessionTokens } from "./http/session-tokens.ts";
import { addRoutes } from "./http/routes/routes.ts";
import { measureRequests } from "./http/request-metrics.ts";
import { showRoutes } from "./http/route-endpoints.ts";
import { DEPLOYED, LOCAL } from "./policy/built-in-policies.ts";
import { isLoopback } from "./http/caller-guard.ts";
import type { GatewayConfig } from "./config.ts";
import type { Backend } from "./ports.ts";
import { openGateway } from "./gateway.ts";
import { readPage } from "./page/page-files.ts";
import { addPage } from "./page/page-routes.ts";
import { HookSignatures } from "./hooks/hook-signature.ts";
import { identityOf } from "./identity/directory.ts";
import { OidcPeople } from "./identity/oidc.ts";
import { hasRight } from "./identity/roles.ts";
import { tellForever } from "./notices/notice-loop.ts";
import type { NoticeSettings } from "./notices/notice-settings.ts";
import { NoticeTurn } from "./notices/notice-turn.ts";
import { RunTraces } from "./intents/run-trace.ts";
import { inspectWithImage } from "./intents/standard-image.ts";

export async function start(
  { bus, log, metrics: shared }: ServiceContext,
  config: GatewayConfig,
): Promise<Role & { url: string }> {
  const { token, people, allowedHosts } = config;
  const confined = !isLoopback(config.host);
  const backend = natsBackend(bus, log, {
    maxOpenRuns: config.openRuns,
    confined,
    storeDir: config.storeDir,
  });
  const inspect: Backend["inspect"] = (request) =>
    inspectWithImage(backend, request, config.devcontainer !== "require");
  const store = openSessionStore(bus, token === null ? LOCAL : DEPLOYED);
  const { directory } = config;
  const oidc = config.oidc === null ? null : new OidcPeople(config.oidc);
  const deciding = people.flatMap(({ name }) =>
    hasRight(identityOf(name, directory), "decide") ? [name] : [],
  );
  // An identity provider knows people that nobody listed here.
  const options = {
    people: oidc === null ? deciding : ("unknown" as const),
    inspect,
    traces: new RunTraces(bus.tracer),
    adapters: config.adapters,
    packFolders: config.packFolders,
    onFault: ({ code, detail }: AntiphonError, sessionId: string) =>
      log.warn({ sessionId, code, detail }, "a session's commands wait"),
  };
  const gateway = openGateway(backend, store, () => `run_${uniqueId()}`, options);
  const streams = new EventStreams(backend);
  const sessions = new SessionTokens(config.sessionKey);
  const server = openHttpServer(
    {
      ...{ token, people, allowedHosts, sessions, directory, connected: () => bus.connected },
      ...(oidc === null ? {} : { oidc }),
    },
    log,
  );
  const metrics = shared ?? (await openMetrics("gateway"));
  if (shared === null) measureBus(metrics, bus, VERSION); // otherwise the process has done so
  measureQueues(metrics, bus);
  measureRequests(server, metrics);
  const known = new Set(people.map(({ name }) => name));
  const hooks = {
    signatures: new HookSignatures(config.hooks),
    identityOf: (name: string) => (known.has(name) ? identityOf(name, directory) : null),
  };
  showRoutes(server, bus.endpoints);
  addRoutes(server, { gateway, backend, sessions, streams, hooks, metrics: () => metrics.scrape() });
  addPage(server, readPage(config.page));
  const stop = new AbortController();
  const telling = tellAbout(config.notices, { bus, log, backend, signal: stop.signal });
  const url = await server.listen({ host: config.host, port: config.port });
  log.info({ url }, "listening");
  return {
    url,
    async drain() {
      stop.abort();
      streams.close();
      await server.close();
      await gateway.sessions.drain();
      await telling;
    },
  };
}

/** How often the journal is looked at for something to tell. */
const NEWS_MS = 1_000;

async function tellAbout(
  settings: NoticeSettings | null,
  { bus, ...parts }: Pick<ServiceContext, "bus" | "log"> & { backend: Backend; signal: AbortSignal },
): Promise<void> {
  if (settings === null) return;
  const news = openRunNews(bus, ["verdict", "result", "closed"]);
  const turn = new NoticeTurn({ kv: openKv(bus, BUCKETS.notices), by: uniqueId(), log: parts.log });
  await tellForever({ ...parts, settings, turn, news, everyMs: NEWS_MS });
}
