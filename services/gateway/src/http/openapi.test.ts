import { createLogger } from "@antiphon/runtime";
import { describe, expect, it } from "vitest";
import { ROUTE_RIGHTS } from "../identity/route-rights.ts";
import { openHttpServer } from "./http-server.ts";
import { addRoutes } from "./routes/routes.ts";
import { SessionTokens } from "./session-tokens.ts";
import type { RouteParts } from "./routes/routes.ts";
import { openApi } from "./openapi.ts";
import { ROUTES } from "./route-table.ts";

describe("the OpenAPI description", () => {
  it("lists every route the server has, and no other", () => {
    const log = createLogger("test", { level: "silent" });
    const sessions = new SessionTokens(null);
    const server = openHttpServer({ token: null, allowedHosts: [], sessions, connected: () => true }, log);
    const served: string[] = [];
    server.addHook("onRoute", ({ method, url }) => {
      const path = url.replaceAll(/:(\w+)/g, "{$1}").replace("*", "{path}");
      if (method !== "HEAD") served.push(`${String(method).toLowerCase()} ${path}`);
    });
    addRoutes(server, {} as RouteParts);
    const rows = Object.keys(ROUTE_RIGHTS).map((row) =>
      row.replaceAll(/:(\w+)/g, "{$1}").replace("*", "{path}"),
    );
    const open = ["get /healthz", "get /readyz", "post /hooks/{id}/decisions"];
    const asking = rows.map((row) => row.replace(/^\w+/, (method) => method.toLowerCase()));
    expect([...asking, ...open].sort(), "gateway/G4: every route asks for a right").toEqual(
      [...served].sort(),
    );
    expect(ROUTES.map(({ method, path }) => `${method} ${path}`).sort()).toEqual(served.sort());
  });

  it("refers only to schemas it contains", () => {
    const text = JSON.stringify(openApi());
    const { components } = openApi() as { components: { schemas: Record<string, unknown> } };
    for (const [, name] of text.matchAll(/#\/components\/schemas\/(\w+)/g)) {
      expect(components.schemas).toHaveProperty(name ?? "");
    }
    expect(components.schemas).toHaveProperty("Intent");
  });

  it("says which lists have pages", () => {
    type Listing = { get?: { parameters: { name: string }[]; responses: { 200?: { headers?: object } } } };
    const { paths } = openApi() as { paths: Record<string, Listing> };
    const lists = Object.entries(paths).filter(([, { get }]) =>
      get?.parameters.some(({ name }) => name === "cursor"),
    );
    expect(lists.map(([path]) => path)).toEqual([
      "/sessions",
      "/sessions/{id}/events",
      "/sessions/{id}/approvals",
      "/runs",
      "/runs/{id}/events",
      "/runs/{id}/evidence",
      "/dead-letters",
    ]);
    for (const [, { get }] of lists) expect(get?.responses[200]?.headers).toHaveProperty("link");
  });

  it("says that every failure is a problem document of RFC 9457", () => {
    type Failing = { responses: { default: { content: Record<string, { schema: object }> } } };
    const { paths } = openApi() as { paths: Record<string, Record<string, Failing>> };
    const failures = Object.values(paths).flatMap((path) => Object.values(path));
    expect(failures).toHaveLength(ROUTES.length);
    for (const { responses } of failures)
      expect(responses.default.content).toEqual({
        "application/problem+json": { schema: { $ref: "#/components/schemas/Problem" } },
      });
  });

  it("says what a request needs, and every status that answers one", () => {
    type Operation = {
      parameters: { name: string; in: string; required: boolean }[];
      requestBody?: { required: boolean; content: Record<string, { schema: { required: string[] } }> };
      responses: Record<string, unknown>;
    };
    const { paths } = openApi() as { paths: Record<string, Record<string, Operation>> };
    expect(paths["/policy"]?.["get"]?.parameters).toMatchObject([
      { name: "repo", in: "query", required: true },
    ]);
    expect(Object.keys(paths["/intents"]?.["post"]?.responses ?? {})).toEqual(["200", "201", "default"]);
    const recording = paths["/recordings"]?.["post"]?.requestBody;
    expect(recording?.content["application/json"]?.schema.required).toEqual(["input", "output"]);
  });
});
