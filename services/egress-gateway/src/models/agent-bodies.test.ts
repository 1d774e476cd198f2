import { describe, expect, it } from "vitest";
import { AGENT_REQUESTS } from "./agent-bodies.fixture.ts";
import { CHAT_REQUESTS } from "./chat-bodies.fixture.ts";
import { routeOf } from "./endpoint.ts";
import { readCall, type ModelCall } from "./model-call.ts";
import { PYPI_REQUESTS } from "./pypi-bodies.fixture.ts";
import { LEAST_RATIO, MOST_RATIO, ratioOf } from "./real-tokens.fixture.ts";

const price = {
  input: 3_000_000,
  output: 15_000_000,
  cache_read: 300_000,
  cache_write: 6_000_000,
  max_output: 64_000,
};

const REQUESTS = [...AGENT_REQUESTS, ...CHAT_REQUESTS, ...PYPI_REQUESTS];

function read({
  shape,
  path,
  query,
  body,
}: Omit<(typeof AGENT_REQUESTS)[number], "program" | "removed">): ModelCall {
  const route = routeOf("POST", { path, query }, { shape, base: null });
  if (route?.kind !== "call") throw new Error(`${path} is no call`);
  return readCall(route.endpoint, Buffer.from(JSON.stringify(body)), { m: price }, route);
}

describe("the requests of real programs", () => {
  it.each(REQUESTS)("of $program are metered, and nothing leaves that costs extra", (request) => {
    const call = read(request);
    expect(call.removed).toEqual(request.removed);
    expect(call.unknown).toEqual([]);
    const sent = JSON.stringify(call.bodyWith(call.answer));
    for (const name of request.removed) expect(sent).not.toContain(`"${name.replace(/^tool /, "")}"`);
  });

  it.each(REQUESTS)("of $program are reserved for between 1.2 and 2 times their real tokens", (request) => {
    const call = read(request);
    const ratio = ratioOf(JSON.stringify(call.bodyWith(call.answer)), call.mostWith(0).tokens);
    expect(ratio).toBeGreaterThanOrEqual(LEAST_RATIO);
    expect(ratio).toBeLessThanOrEqual(MOST_RATIO);
  });

  it.each(REQUESTS)("of a later version of $program pass with fields that nobody knows yet", (request) => {
    const call = read({ ...request, body: { ...request.body, some_new_field: { a: 1 } } });
    expect(call.unknown).toEqual(["some_new_field"]);
    expect(call.bodyWith(1)).toHaveProperty("some_new_field");
  });

  it("keep only the parameters of a query that change no price", () => {
    const at = (query: string) =>
      routeOf("POST", { path: "/v1/messages", query }, { shape: "anthropic", base: null });
    expect(at("beta=true&key=secret&x=1")?.query).toBe("beta=true");
    expect(at("key=secret")?.query).toBeNull();
  });

  it("go to the base URL of a deployment's own server, whether or not the program knows its path", () => {
    const host = { shape: "openai" as const, base: "/api/v1" };
    for (const path of ["/v1/chat/completions", "/api/v1/chat/completions"])
      expect(routeOf("POST", { path, query: null }, host)).toMatchObject({
        path: "/api/v1/chat/completions",
      });
    expect(routeOf("POST", { path: "/admin/chat/completions", query: null }, host)).toBeNull();
    expect(routeOf("GET", { path: "/v1/models", query: null }, host)).toMatchObject({ kind: "free" });
  });
});
