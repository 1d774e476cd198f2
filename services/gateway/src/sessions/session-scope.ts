// Limits the token of a session with a repository to its own session and to the intents and runs of its repository. A
// run outside this scope gets the same answer as one that does not exist.
import { AntiphonError } from "@antiphon/contracts";
import type { FastifyInstance, FastifyRequest } from "fastify";
import type { Caller } from "../intents/run-admission.ts";
import type { Gateway } from "../gateway.ts";
import type { SessionBinding } from "./session-binding.ts";

declare module "fastify" {
  interface FastifyRequest {
    /** The session's binding; null: it has none, or no session token was sent. */
    binding: SessionBinding | null;
  }
}

/** Declared routes that such a token may call. */
const IN_SCOPE: ReadonlySet<string> = new Set([
  "GET /sessions/:id",
  "POST /sessions/:id/commands",
  "GET /sessions/:id/events",
  "GET /sessions/:id/artifacts/:name",
  "POST /intents",
  "GET /intents/:id",
  "POST /intents/:id/run",
  "GET /runs/:id",
  "GET /runs/:id/events",
  "POST /runs/:id/events",
  "POST /runs/:id/pause",
  "POST /runs/:id/resume",
  "POST /runs/:id/retry",
  "POST /runs/:id/replay",
  "GET /runs/:id/evidence",
  "GET /runs/:id/evidence/:task/:epoch",
  "GET /runs/:id/evidence/:task/:epoch/files/*",
  "GET /keys",
  "GET /openapi.json",
  "GET /healthz",
  "GET /readyz",
]);

/** Checks the scope before any route of `server` is handled. */
export function keepInScope(server: FastifyInstance, gateway: Gateway): void {
  server.decorateRequest("binding", null);
  server.addHook("preHandler", async (request) => {
    const { sessionId, bound, principal, method } = request;
    const route = request.routeOptions.url;
    if (!bound || sessionId === null || route === undefined) return;
    if (!IN_SCOPE.has(`${method} ${route}`))
      throw new AntiphonError(
        "ANT_SESSION_SCOPE",
        `${method} ${route} is not available to a session of a repository`,
      );
    request.binding = await gateway.sessions.binding(sessionId, principal);
    if (route.startsWith("/runs/:id")) await requireOwnRun(gateway, request, request.binding);
  });
}

async function requireOwnRun(
  gateway: Gateway,
  request: FastifyRequest,
  { repo }: SessionBinding,
): Promise<void> {
  const { id } = request.params as { id: string };
  const absent = new AntiphonError("ANT_RUN_NOT_FOUND", `there is no run ${id.slice(0, 80)}`);
  if (!/^run_[a-z0-9]{1,32}$/.test(id)) throw absent;
  const { intent } = await gateway.facts(id);
  if (intent?.base.repo.path !== repo) throw absent;
}

export function callerOf({ principal, binding, tenancy, headers }: FastifyRequest): Caller {
  const { traceparent } = headers;
  const trace = typeof traceparent === "string" ? { traceparent } : {};
  return { principal, session: binding, tenancy, ...trace };
}
