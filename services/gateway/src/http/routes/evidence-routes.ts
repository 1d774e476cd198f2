import type { FastifyInstance } from "fastify";
import type { EvidenceAddress } from "../../evidence/evidence-reader.ts";
import type { Gateway } from "../../gateway.ts";
import { invalid } from "../paging.ts";
import { id, nextOf, sendFile, type Paged, type Params } from "./route-values.ts";

type AtEvidence = Params<"id" | "task" | "epoch"> & { Querystring: { kind?: string } };

export function addEvidence(server: FastifyInstance, gateway: Gateway): void {
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

/** Sends raw messages, so that a checker of the journal can compute the digests itself. */
export function addJournal(server: FastifyInstance, gateway: Gateway): void {
  server.get("/journal", () => gateway.journal.overview());
  server.get<Params<"id"> & { Querystring: { after?: string } }>("/runs/:id/journal", (request) => {
    const { after = "0" } = request.query;
    if (!/^\d{1,15}$/.test(after)) throw invalid("after", "must be a stream sequence");
    return gateway.journal.run(id(request.params.id, "run"), Number(after));
  });
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
