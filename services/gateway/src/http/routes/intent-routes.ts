import type { FastifyInstance } from "fastify";
import type { Gateway } from "../../gateway.ts";
import { callerOf } from "../../sessions/session-scope.ts";
import { answerSlowly, answerWithNews } from "../slow-answer.ts";
import { id, idempotencyKey, type Params } from "./route-values.ts";

export function addIntents(server: FastifyInstance, gateway: Gateway): void {
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
    const { runId, replayed, narrowed } = await gateway.intake.run(id(request.params.id, "it"), {
      ...callerOf(request),
      key,
      body: request.body,
    });
    if (replayed) void reply.header("idempotency-replayed", "true");
    return reply
      .code(202)
      .header("location", `/runs/${runId}`)
      .send({
        ...{ runId, intentId: request.params.id, status: "queued" },
        ...(narrowed.length === 0 ? {} : { narrowed }),
      });
  });
  server.post("/recordings", async (request, reply) =>
    reply.code(201).send(await gateway.record(request.body)),
  );
}

/** A client that goes away ends its check. */
export function addChecks(server: FastifyInstance, gateway: Gateway): void {
  server.post("/checks", async (request, reply) => {
    const admitted = await gateway.checks.admit(request.body, callerOf(request));
    const work = (gone: AbortSignal) => gateway.checks.carryOut(admitted, gone);
    const wantsNews = request.headers.accept?.includes("text/event-stream") ?? false;
    if (!wantsNews) return answerSlowly(reply, work);
    return answerWithNews(reply, work, (hear) => gateway.checks.listen(admitted, hear));
  });
}

/** The answers show the policy that applies to the caller. */
export function addPolicy(server: FastifyInstance, gateway: Gateway): void {
  server.get<{ Querystring: { repo?: string } }>("/policy", ({ query, principal }) =>
    gateway.policy.explain(query.repo ?? "", principal),
  );
  server.post("/policy/check", ({ body, principal }) => gateway.policy.check(body, principal));
  server.post("/policy/simulate", ({ body }) => gateway.simulate(body));
}
