// The routes: they read the parameters of a request, call a use case and send its answer.
import { AntiphonError, validate } from "@antiphon/contracts";
import { uniqueId } from "@antiphon/runtime";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { malformed } from "./malformed.ts";
import { openApi } from "./openapi.ts";
import { cursorText, invalid, limitOf, linkOf, numberAfter, pageOf, runCursorOf } from "./paging.ts";
import type { PageQuery } from "./paging.ts";
import { recordJson, resumeFrom } from "./sse-frame.ts";
import type { Backend } from "../ports.ts";
import type { EvidenceAddress } from "../evidence/evidence-reader.ts";
import type { Gateway } from "../gateway.ts";
import type { EventStreams, LiveLogs } from "./event-stream.ts";
import { SESSIONS_PATH } from "./http-server.ts";
import { addHooks, type HookParts } from "../hooks/hook-routes.ts";
import { requireRight } from "../identity/roles.ts";
import { callerOf, keepInScope } from "../sessions/session-scope.ts";
import type { SessionTokens } from "./session-tokens.ts";
import { answerSlowly } from "./slow-answer.ts";

type Params<K extends string> = { Params: Record<K, string> };
type Paged = { Querystring: PageQuery };
type AtEvidence = Params<"id" | "task" | "epoch"> & { Querystring: { kind?: string } };

export interface RouteParts {
  readonly gateway: Gateway;
  readonly backend: Backend;
  readonly sessions: SessionTokens;
  readonly streams: EventStreams;
  readonly hooks: Pick<HookParts, "signatures" | "identityOf">;
  readonly metrics: () => Promise<{ type: string; text: string }>;
}

export function addRoutes(server: FastifyInstance, parts: RouteParts): void {
  keepInScope(server, parts.gateway);
  addSessions(server, parts);
  addSessionApprovals(server, parts);
  addPolicy(server, parts.gateway);
  addIntents(server, parts.gateway);
  addChecks(server, parts.gateway);
  addRuns(server, parts);
  addJournal(server, parts.gateway);
  addEvidence(server, parts.gateway);
  addImages(server, parts.backend);
  addModels(server, parts.backend);
  addDeadLetters(server, parts.gateway);
  addOperations(server, parts.gateway);
  addHealth(server, parts);
  addHooks(server, { ...parts, ...parts.hooks });
}

/** A session with a repository takes Contracts v1.3 commands; one without only forwards prompts and is not stored. */
function addSessions(server: FastifyInstance, { backend, gateway, sessions, streams }: RouteParts): void {
  server.post(SESSIONS_PATH, async ({ principal, roles, tenancy, body }, reply) => {
    const sessionId = `ses_${uniqueId()}`;
    const bound = body !== undefined;
    if (bound) requireRight({ principal, roles }, ["submit"], "a session of a repository"); // gateway/G9
    const config = bound ? { config: await gateway.sessions.open(sessionId, body, principal) } : {};
    const issued = await sessions.issue({ sessionId, principal, bound, roles, tenancy });
    return reply.code(201).send({ sessionId, ...issued, ...config, keys: await backend.directorKeys() });
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
function addSessionApprovals(server: FastifyInstance, { gateway }: RouteParts): void {
  server.get<Params<"id"> & Paged>("/sessions/:id/approvals", async (request, reply) => {
    const open = await gateway.sessions.approvals(namedSession(request.params.id));
    const { items, next } = pageOf("approvals", open, ({ sequence }) => sequence, request.query);
    return { approvals: items, ...nextOf(request, reply, next) };
  });
  server.post<Params<"id">>("/sessions/:id/approvals", ({ params, body, principal }) =>
    gateway.sessions.decide(namedSession(params.id), body, principal),
  );
}

/** A browser shows or saves an agent's file as text and never runs it in the gateway's origin. */
function sendFile(reply: FastifyReply, bytes: Buffer): FastifyReply {
  return reply
    .type("text/plain; charset=utf-8")
    .header("content-security-policy", "sandbox; default-src 'none'")
    .send(bytes);
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

function addIntents(server: FastifyInstance, gateway: Gateway): void {
  server.post("/intents", async (request, reply) => {
    const { intentId, created } = await gateway.intake.create(request.body, callerOf(request));
    return reply
      .code(created ? 201 : 200)
      .header("location", `/intents/${intentId}`)
      .send({ intentId });
  });
  server.get<Params<"id">>("/intents/:id", async (request) =>
    gateway.intake.get(id(request.params.id, "it"), request.binding),
  );
  server.post<Params<"id">>("/intents/:id/run", async (request, reply) => {
    const key = idempotencyKey(request.headers["idempotency-key"]);
    const { runId, replayed } = await gateway.intake.run(id(request.params.id, "it"), {
      ...callerOf(request),
      key,
      body: request.body,
    });
    if (replayed) void reply.header("idempotency-replayed", "true");
    return reply
      .code(202)
      .header("location", `/runs/${runId}`)
      .send({ runId, intentId: request.params.id, status: "queued" });
  });
  server.post("/recordings", async (request, reply) =>
    reply.code(201).send(await gateway.record(request.body)),
  );
}

/** A client that goes away ends its check. */
function addChecks(server: FastifyInstance, gateway: Gateway): void {
  server.post("/checks", async (request, reply) => {
    const admitted = await gateway.checks.admit(request.body, callerOf(request));
    return answerSlowly(reply, (gone) => gateway.checks.carryOut(admitted, gone));
  });
}

/** The answers show the policy that applies to the caller. */
function addPolicy(server: FastifyInstance, gateway: Gateway): void {
  server.get<{ Querystring: { repo?: string } }>("/policy", ({ query, principal }) =>
    gateway.policy.explain(query.repo ?? "", principal),
  );
  server.post("/policy/check", ({ body, principal }) => gateway.policy.check(body, principal));
  server.post("/policy/simulate", ({ body }) => gateway.simulate(body));
}

function addRuns(server: FastifyInstance, { gateway, backend, streams }: RouteParts): void {
  server.get<Paged>("/runs", async (request, reply) => {
    const cursor = runCursorOf(request.query, backend.partitions);
    const { runs, next } = await gateway.runs(limitOf(request.query, 20), cursor);
    return { runs, ...nextOf(request, reply, next === null ? null : cursorText("runs", next)) };
  });
  server.get<Params<"id">>("/runs/:id", async (request) => gateway.view(id(request.params.id, "run")));
  server.get<Params<"id"> & { Querystring: { logs?: string } & PageQuery }>(
    "/runs/:id/events",
    { exposeHeadRoute: false }, // A HEAD request could read nothing, but would take a place until the run ends.
    async (request, reply) => {
      const runId = id(request.params.id, "run");
      const wantsStream = request.headers.accept?.includes("text/event-stream") ?? false;
      if (!wantsStream && request.headers.accept?.includes("application/json") === true) {
        const records = await gateway.records(runId);
        const { items, next } = pageOf("records", records, ({ seq }) => seq, request.query);
        return { records: items.map(recordJson), ...nextOf(request, reply, next) };
      }
      const from = await startOf(gateway, backend, runId, request.headers["last-event-id"]);
      await streams.serve(request, reply, { runId, logs: liveLogs(request.query.logs), from });
      return reply;
    },
  );
  server.post<Params<"id">>("/runs/:id/events", async (request, reply) => {
    const { event } = (request.body ?? {}) as { event?: unknown };
    if (event === "approval") requireRight(request, ["decide"], "an approval"); // gateway/G9
    if (event === "message") requireRight(request, ["submit"], "a message"); // gateway/G9
    const runId = id(request.params.id, "run");
    return reply.code(202).send(await gateway.say(runId, request.body, request.principal));
  });
  server.post<Params<"id">>("/runs/:id/retry", async (request, reply) => {
    const retryOf = id(request.params.id, "run");
    const { runId, replayed } = await gateway.retry(retryOf, callerOf(request));
    if (replayed) void reply.header("idempotency-replayed", "true");
    return reply
      .code(202)
      .header("location", `/runs/${runId}`)
      .send({ runId, retryOf, status: "queued", replayed });
  });
  server.post<Params<"id">>("/runs/:id/replay", async ({ params, body, principal }, reply) => {
    const order = await gateway.replays.admit(id(params.id, "run"), body, principal);
    return answerSlowly(reply, (gone) => gateway.replays.carryOut(order, gone));
  });
  server.post<Params<"id">>("/runs/:id/restore", (request) =>
    gateway.restore(id(request.params.id, "run"), request.principal),
  );
  server.post<Params<"id">>("/runs/:id/rebuild", (request) => gateway.rebuild(id(request.params.id, "run")));
  for (const kind of ["pause", "resume"] as const) {
    server.post<Params<"id">>(`/runs/:id/${kind}`, async (request, reply) =>
      reply.code(202).send(await gateway.control(id(request.params.id, "run"), kind, request)),
    );
  }
}

/** Sends raw messages, so that a checker of the journal can compute the digests itself. */
function addJournal(server: FastifyInstance, gateway: Gateway): void {
  server.get("/journal", () => gateway.journal.overview());
  server.get<Params<"id"> & { Querystring: { after?: string } }>("/runs/:id/journal", (request) => {
    const { after = "0" } = request.query;
    if (!/^\d{1,15}$/.test(after)) throw invalid("after", "must be a stream sequence");
    return gateway.journal.run(id(request.params.id, "run"), Number(after));
  });
}

function addEvidence(server: FastifyInstance, gateway: Gateway): void {
  server.get<Params<"id"> & Paged>("/runs/:id/evidence", async (request, reply) => {
    const { next, ...evidence } = await gateway.evidence.all(id(request.params.id, "run"), request.query);
    return { ...evidence, ...nextOf(request, reply, next) };
  });
  server.get<AtEvidence>("/runs/:id/evidence/:task/:epoch", async (request) =>
    gateway.evidence.bundle(id(request.params.id, "run"), addressOf(request)),
  );
  server.get<AtEvidence & Params<"*">>("/runs/:id/evidence/:task/:epoch/files/*", async (request, reply) => {
    const bytes = await gateway.evidence.file(
      id(request.params.id, "run"),
      addressOf(request),
      request.params["*"],
    );
    return sendFile(reply, bytes);
  });
}

function addImages(server: FastifyInstance, backend: Backend): void {
  server.get("/images", () => backend.images({ op: "list" }));
  server.post("/images", (request) => {
    const checked = validate("ImagesRequest", request.body);
    if (!checked.ok) throw malformed("ANT_CONTRACT_INVALID", checked.errors);
    return backend.images(checked.value);
  });
}

function addModels(server: FastifyInstance, backend: Backend): void {
  server.get("/models", () => backend.models({ op: "list" }));
  server.post("/models/test", (request) => {
    const checked = validate("ModelsRequest", request.body);
    if (!checked.ok) throw malformed("ANT_CONTRACT_INVALID", checked.errors);
    return backend.models(checked.value);
  });
}

function addDeadLetters(server: FastifyInstance, gateway: Gateway): void {
  server.get<{ Querystring: { after?: string } & PageQuery }>("/dead-letters", async (request, reply) => {
    const { after = "0" } = request.query;
    if (!/^\d{1,15}$/.test(after)) throw invalid("after", "must be a stream sequence");
    const from = numberAfter("dead-letters", request.query) ?? Number(after);
    const { letters, more } = await gateway.deadLetters.list(from, limitOf(request.query, 100));
    const last = more === 0 ? undefined : letters.at(-1);
    const next = last === undefined ? null : cursorText("dead-letters", last.seq);
    return { letters, more, ...nextOf(request, reply, next) };
  });
  server.get<Params<"id">>("/dead-letters/:id", async (request) =>
    gateway.deadLetters.show(request.params.id),
  );
  server.post<Params<"id">>("/dead-letters/:id/requeue", async (request, reply) =>
    reply.code(202).send(await gateway.deadLetters.requeue(request.params.id, request.principal)),
  );
}

function addOperations(server: FastifyInstance, gateway: Gateway): void {
  server.get("/queues", (reader) => gateway.operations.queues(reader));
  server.get("/agents", () => gateway.operations.agents());
  server.get<Params<"name"> & { Querystring: { model?: string } }>("/agents/:name", ({ params, query }) =>
    gateway.operations.agent(params.name, query.model),
  );
}

function addHealth(server: FastifyInstance, { backend, metrics }: RouteParts): void {
  server.get("/keys", async () => ({ keys: await backend.directorKeys() }));
  let description = ""; // Made once: it takes some 10 ms, and is the same for everybody.
  server.get("/openapi.json", (_request, reply) => {
    description ||= JSON.stringify(openApi());
    return reply.type("application/json; charset=utf-8").send(description);
  });
  server.get("/healthz", async () => ({ status: "ok" }));
  server.get("/readyz", async () => {
    if (!backend.connected) throw new AntiphonError("ANT_NATS_UNREACHABLE", "not connected to NATS");
    return { status: "ready" };
  });
  server.get<{ Querystring: { expect?: string } }>("/services", async (request) => {
    const expect = Number(request.query.expect ?? 1000);
    return {
      services: await backend.rollCall(
        Number.isInteger(expect) && expect > 0 ? Math.min(expect, 1000) : 1000,
      ),
    };
  });
  server.get("/metrics", async (_request, reply) => {
    const { type, text } = await metrics();
    return reply.type(type).send(text);
  });
}

/**
 * Where a stream of a run begins. A run that does not exist is a 404, not an empty stream, and an id beyond its end is a 400. A
 * long run is not read as a whole for that.
 */
async function startOf(
  gateway: Gateway,
  backend: Backend,
  runId: string,
  lastEventId: string | string[] | undefined,
): Promise<number> {
  const from = resumeFrom(lastEventId);
  if ((await backend.next(runId, from - 1)).length > 0) return from;
  return resumeFrom(lastEventId, (await gateway.records(runId)).at(-1)?.seq ?? 0);
}

/** `next` of the body, and the same as a `Link`. */
function nextOf(request: FastifyRequest, reply: FastifyReply, next: string | null): { next: string | null } {
  if (next !== null) void reply.header("link", linkOf(request.originalUrl, next));
  return { next };
}

function liveLogs(asked: string | undefined): LiveLogs {
  if (asked === "1") return "all";
  return asked === "progress" ? "progress" : "none";
}

function id(text: string, prefix: "it" | "run"): string {
  if (new RegExp(`^${prefix}_[a-z0-9]{1,32}$`).test(text)) return text;
  const code = prefix === "it" ? "ANT_INTENT_NOT_FOUND" : "ANT_RUN_NOT_FOUND";
  throw new AntiphonError(
    code,
    `${JSON.stringify(text.slice(0, 80))} is not ${prefix === "it" ? "an intent" : "a run"} id (${prefix}_...)`,
  );
}

function idempotencyKey(header: string | string[] | undefined): string | null {
  if (header === undefined) return null;
  if (typeof header === "string" && /^[\x21-\x7e]{1,128}$/.test(header)) return header;
  throw invalid("Idempotency-Key", "must be 1 to 128 printable characters without spaces");
}

function addressOf(request: {
  params: Record<"task" | "epoch", string>;
  query: { kind?: string };
}): EvidenceAddress {
  const { task, epoch } = request.params;
  if (!/^\d{1,7}$/.test(epoch))
    throw invalid("epoch", `must be a number, found ${JSON.stringify(epoch.slice(0, 80))}`);
  const kind = request.query.kind ?? "attempt";
  if (kind !== "attempt" && kind !== "verdict") throw invalid("kind", "must be attempt or verdict");
  return { task, epoch: Number(epoch), kind };
}
