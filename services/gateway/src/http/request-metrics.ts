// Counts and times HTTP requests by route pattern; a path that no route answers has the route `none`.
import type { Meter } from "@antiphon/runtime";
import type { FastifyInstance } from "fastify";
import { METHODS } from "node:http";

const KNOWN: ReadonlySet<string> = new Set(METHODS);

/** To be called before the routes are added. */
export function measureRequests(server: FastifyInstance, meter: Meter): void {
  server.addHook("onResponse", async (request, reply) => {
    const route = request.routeOptions.url ?? "none";
    const method = KNOWN.has(request.method) ? request.method : "OTHER";
    meter.count("antiphon_http_requests_total", { method, route, status: String(reply.statusCode) });
    const type = reply.getHeader("content-type");
    if (typeof type === "string" && type.startsWith("text/event-stream")) return;
    meter.observe("antiphon_http_request_duration_seconds", { method, route }, reply.elapsedTime / 1_000);
  });
}
