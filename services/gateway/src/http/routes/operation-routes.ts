import { AntiphonError, ERRORS, validate } from "@antiphon/contracts";
import type { FastifyInstance } from "fastify";
import type { Gateway } from "../../gateway.ts";
import type { Backend } from "../../ports.ts";
import { malformed } from "../malformed.ts";
import { noSpace } from "../../backend/storage-watch.ts";
import { openApi } from "../openapi.ts";
import { cursorText, invalid, limitOf, numberAfter, type PageQuery } from "../paging.ts";
import type { RouteParts } from "./routes.ts";
import { nextOf, type Params } from "./route-values.ts";

export function addImages(server: FastifyInstance, backend: Backend): void {
  server.get("/images", () => backend.images({ op: "list" }));
  server.post("/images", (request) => {
    const checked = validate("ImagesRequest", request.body);
    if (!checked.ok) throw malformed("ANT_CONTRACT_INVALID", checked.errors);
    return backend.images(checked.value);
  });
}

export function addModels(server: FastifyInstance, backend: Backend): void {
  server.get("/models", () => backend.models({ op: "list" }));
  server.post("/models/test", (request) => {
    const checked = validate("ModelsRequest", request.body);
    if (!checked.ok) throw malformed("ANT_CONTRACT_INVALID", checked.errors);
    return backend.models(checked.value);
  });
}

export function addDeadLetters(server: FastifyInstance, gateway: Gateway): void {
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

export function addOperations(server: FastifyInstance, gateway: Gateway): void {
  server.get("/queues", (reader) => gateway.operations.queues(reader));
  server.get("/agents", () => gateway.operations.agents());
  server.get<Params<"name"> & { Querystring: { model?: string } }>("/agents/:name", ({ params, query }) =>
    gateway.operations.agent(params.name, query.model),
  );
}

export function addHealth(server: FastifyInstance, { backend, metrics }: RouteParts): void {
  server.get("/keys", async () => ({ keys: await backend.directorKeys() }));
  let description = ""; // Made once: it takes some 10 ms, and is the same for everybody.
  server.get("/openapi.json", (_request, reply) => {
    description ||= JSON.stringify(openApi());
    return reply.type("application/json; charset=utf-8").send(description);
  });
  server.get("/healthz", async () => ({ status: "ok" }));
  server.get("/readyz", async () => {
    if (!backend.connected) throw new AntiphonError("ANT_NATS_UNREACHABLE", "not connected to NATS");
    const storage = await backend.storageProblem();
    return storage === null ? { status: "ready" } : { status: "ready", storage: openWords(storage) };
  });
  server.get<{ Querystring: { expect?: string } }>("/services", async (request) => {
    const expect = Number(request.query.expect ?? 1000);
    const [services, storage] = await Promise.all([
      backend.rollCall(Number.isInteger(expect) && expect > 0 ? Math.min(expect, 1000) : 1000),
      backend.storageProblem(),
    ]);
    const refused = services.find((one) => one.noSpace !== undefined)?.noSpace;
    return { services, storage: wordsOf(refused === undefined ? storage : noSpace(refused)) };
  });
  server.get("/metrics", async (_request, reply) => {
    const { type, text } = await metrics();
    return reply.type(type).send(text);
  });
}

interface StorageWords {
  readonly code: string;
  readonly message: string;
  readonly remedy: string;
}

function wordsOf(problem: AntiphonError | null): StorageWords | null {
  return problem && { code: problem.code, message: problem.detail, remedy: problem.remedy };
}

/** For anybody who asks: without the place of the store. */
function openWords({ code, detail, remedy, data }: AntiphonError): StorageWords {
  return { code, message: data["path"] === undefined ? detail : ERRORS[code].meaning, remedy };
}
