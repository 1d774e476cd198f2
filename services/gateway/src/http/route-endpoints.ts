// The gateway's routes, with their requests and errors, for `nats micro info|stats gateway`.
import type { Bus } from "@antiphon/runtime";
import type { FastifyInstance } from "fastify";

type Endpoints = Bus["endpoints"];

/** To be called before the routes are added. An error is an answer of 500 or more: the others are the caller's. */
export function showRoutes(server: FastifyInstance, endpoints: Endpoints): void {
  const shown = new Map<string, ReturnType<Endpoints["add"]>>();
  server.addHook("onRoute", ({ method, url }) => {
    for (const verb of [method].flat()) {
      if (verb === "HEAD" || verb === "OPTIONS") continue; // fastify adds them to the routes that are read
      const metadata = { transport: "http", method: verb, path: url };
      shown.set(`${verb} ${url}`, endpoints.add(nameOf(verb, url), `http.${verb}.${url}`, "", metadata));
    }
  });
  server.addHook("onResponse", async (request, reply) => {
    const status = reply.statusCode;
    const endpoint = shown.get(`${request.method} ${request.routeOptions.url ?? ""}`);
    const type = reply.getHeader("content-type");
    const isStream = typeof type === "string" && type.startsWith("text/event-stream"); // lasts as long as its reader
    endpoint?.served(isStream ? 0 : reply.elapsedTime, status < 500 ? null : `HTTP ${status}`);
  });
}

/** `GET /runs/:id` -> `get-runs-id`: the names that the tools accept. */
const nameOf = (verb: string, url: string): string =>
  [verb.toLowerCase(), ...url.split(/[^A-Za-z0-9]+/)].filter((part) => part !== "").join("-");
