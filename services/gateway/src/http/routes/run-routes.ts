import type { FastifyInstance } from "fastify";
import type { Gateway } from "../../gateway.ts";
import { requireRight } from "../../identity/roles.ts";
import type { Backend } from "../../ports.ts";
import { callerOf } from "../../sessions/session-scope.ts";
import type { LiveLogs } from "../event-stream.ts";
import { cursorText, limitOf, pageOf, runCursorOf, type PageQuery } from "../paging.ts";
import { answerSlowly } from "../slow-answer.ts";
import { recordJson, resumeFrom } from "../sse-frame.ts";
import type { RouteParts } from "./routes.ts";
import { id, nextOf, type Paged, type Params } from "./route-values.ts";

export function addRuns(server: FastifyInstance, { gateway, backend, streams }: RouteParts): void {
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
    if (event === "approval") requireRight(request, ["decide"], "an approval"); // gateway/G4
    if (event === "message") requireRight(request, ["submit"], "a message"); // gateway/G4
    const runId = id(request.params.id, "run");
    return reply.code(202).send(await gateway.say(runId, request.body, request.principal));
  });
  server.post<Params<"id">>("/runs/:id/retry", async (request, reply) => {
    const retryOf = id(request.params.id, "run");
    const { runId, replayed, narrowed } = await gateway.retry(retryOf, callerOf(request));
    if (replayed) void reply.header("idempotency-replayed", "true");
    return reply
      .code(202)
      .header("location", `/runs/${runId}`)
      .send({ runId, retryOf, status: "queued", replayed, ...(narrowed.length === 0 ? {} : { narrowed }) });
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

function liveLogs(asked: string | undefined): LiveLogs {
  if (asked === "1") return "all";
  return asked === "progress" ? "progress" : "none";
}
