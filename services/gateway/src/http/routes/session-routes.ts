import { AntiphonError } from "@antiphon/contracts";
import { uniqueId, VERSION } from "@antiphon/runtime";
import type { FastifyInstance } from "fastify";
import { requireRight } from "../../identity/roles.ts";
import { SESSIONS_PATH } from "../http-server.ts";
import { cursorText, invalid, limitOf, numberAfter, pageOf, type PageQuery } from "../paging.ts";
import type { RouteParts } from "./routes.ts";
import { nextOf, sendFile, type Paged, type Params } from "./route-values.ts";
import { resumeFrom } from "../sse-frame.ts";

/** A session with a repository takes Contracts v1.3 commands; one without only forwards prompts and is not stored. */
export function addSessions(
  server: FastifyInstance,
  { backend, gateway, sessions, streams }: RouteParts,
): void {
  server.post(SESSIONS_PATH, async ({ principal, roles, tenancy, body }, reply) => {
    const sessionId = `ses_${uniqueId()}`;
    const bound = body !== undefined;
    if (bound) requireRight({ principal, roles }, ["submit"], "a session of a repository"); // gateway/G4
    const config = bound ? { config: await gateway.sessions.open(sessionId, body, principal) } : {};
    const issued = await sessions.issue({ sessionId, principal, bound, roles, tenancy });
    const keys = await backend.directorKeys();
    return reply.code(201).send({ sessionId, ...issued, ...config, keys, version: VERSION });
  });
  server.get<Paged>(SESSIONS_PATH, async (request, reply) => {
    const below = numberAfter("sessions", request.query) ?? Number.MAX_SAFE_INTEGER;
    const { sessions: lines, next } = await gateway.sessions.list(limitOf(request.query, 20), below);
    return {
      sessions: lines,
      ...nextOf(request, reply, next === null ? null : cursorText("sessions", next)),
    };
  });
  server.get<Params<"id">>("/sessions/:id", (request) => gateway.sessions.view(ownSession(request)));
  server.post<Params<"id">>("/sessions/:id/commands", async (request, reply) => {
    const events = await gateway.sessions.command(ownSession(request), request.body, request.principal);
    return reply.code(202).send({ events });
  });
  server.get<Params<"id"> & { Querystring: { after?: string; agent?: string } & PageQuery }>(
    "/sessions/:id/events",
    { exposeHeadRoute: false }, // A HEAD request could read nothing, but would take a place.
    async (request, reply) => {
      const { after = "0", agent = null } = request.query;
      if (!/^\d{1,6}$/.test(after)) throw invalid("after", "must be the sequence of an event");
      if (request.headers.accept?.includes("text/event-stream") === true) {
        const from = Math.max(Number(after), resumeFrom(request.headers["last-event-id"]) - 1);
        const follow = await gateway.sessions.follow(ownSession(request), from, agent);
        await streams.serveSession(request, reply, follow);
        return reply;
      }
      const events = await gateway.sessions.events(ownSession(request), Number(after), agent);
      const { items, next } = pageOf("events", events, ({ sequence }) => sequence, request.query);
      return { events: items, ...nextOf(request, reply, next) };
    },
  );
  server.get<Params<"id" | "name">>("/sessions/:id/artifacts/:name", async (request, reply) => {
    const blob = await gateway.sessions.artifact(ownSession(request), request.params.name);
    return sendFile(reply, await backend.file(blob));
  });
}

/** For people: a session of a repository, which an agent may hold, reaches neither (session-scope.ts). */
export function addSessionApprovals(server: FastifyInstance, { gateway }: RouteParts): void {
  server.get<Params<"id"> & Paged>("/sessions/:id/approvals", async (request, reply) => {
    const open = await gateway.sessions.approvals(namedSession(request.params.id));
    const { items, next } = pageOf("approvals", open, ({ sequence }) => sequence, request.query);
    return { approvals: items, ...nextOf(request, reply, next) };
  });
  server.post<Params<"id">>("/sessions/:id/approvals", ({ params, body, principal }) =>
    gateway.sessions.decide(namedSession(params.id), body, principal),
  );
}

/** A session token gives access to its own session only. */
function ownSession(request: { params: { id: string }; sessionId: string | null }): string {
  const sessionId = namedSession(request.params.id);
  if ((request.sessionId ?? sessionId) !== sessionId) throw noSession(sessionId);
  return sessionId;
}

function namedSession(id: string): string {
  if (!/^ses_[a-z0-9]{1,32}$/.test(id)) throw noSession(id);
  return id;
}

const noSession = (id: string): AntiphonError =>
  new AntiphonError("ANT_SESSION_NOT_FOUND", `there is no session ${id.slice(0, 80)}`);
