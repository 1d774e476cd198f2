/** The gateway's answers and log lines before a request reaches a use case. */
import { connect } from "node:net";
import { limits } from "@antiphon/contracts";
import type { FastifyInstance } from "fastify";
import { afterEach, describe, expect, test, vi } from "vitest";
import { createLogger } from "../../../runtime/src/index.ts";
import { openHttpServer } from "../../../services/gateway/src/http/http-server.ts";
import { addRoutes, type RouteParts } from "../../../services/gateway/src/http/routes/routes.ts";
import { SessionTokens } from "../../../services/gateway/src/http/session-tokens.ts";
import { faultOfProblem } from "../../support/problem.ts";

const TOKEN = "the-token-of-this-deployment";
type Line = Record<string, unknown>;

let server: FastifyInstance | null = null;
afterEach(async () => {
  vi.useRealTimers();
  await server?.close();
});

/** The gateway's HTTP server on a free port, with a backend that only serves dead letters. */
async function door(token: string | null): Promise<{ url: string; lines: Line[] }> {
  const lines: Line[] = [];
  const write = (line: string): void => void lines.push(JSON.parse(line) as Line);
  const log = createLogger("gateway", { destination: { write } });
  const sessions = new SessionTokens(token);
  server = openHttpServer({ token, allowedHosts: [], sessions, connected: () => true }, log);
  const broken = (): never => {
    throw new Error("a bug");
  };
  const parts = { sessions, gateway: { deadLetters: { list: broken } }, backend: { partitions: 1 } };
  addRoutes(server, parts as unknown as RouteParts);
  return { url: await server.listen({ host: "127.0.0.1", port: 0 }), lines };
}

/** Sends raw bytes and returns the whole answer. */
function raw(url: string, text: string): Promise<{ status: number; head: string; body: Line }> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve, reject) => {
    let said = "";
    const socket = connect({ host: hostname, port: Number(port) }, () => socket.write(text));
    socket.setTimeout(5_000, () => socket.destroy(new Error(`no end of: ${said}`)));
    socket.once("error", reject);
    socket.on("data", (data) => (said += data.toString()));
    socket.once("close", () => {
      const [head = "", body = ""] = said.split("\r\n\r\n");
      const parsed = JSON.parse(body || "{}") as Line;
      const status = Number(head.split(" ")[1]);
      const hasBody = !text.startsWith("HEAD ");
      const fault = hasBody ? faultOfProblem(status, /^content-type: (.+)$/im.exec(head)?.[1], parsed) : null;
      if (fault !== null) return reject(fault);
      resolve({ status, head, body: parsed });
    });
  });
}

const request = (method: string, path: string, headers = ""): string =>
  `${method} ${path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n${headers}\r\n`;

describe("input that matches no route gets a 4xx with a code and a remedy", () => {
  test.each([
    ["a method that no path takes", request("PROPFIND", "/runs"), 405, "ANT_GATEWAY_METHOD"],
    ["QUERY, whether or not the HTTP parser knows it", request("QUERY", "/runs"), 405, "ANT_GATEWAY_METHOD"],
    ["an invalid method", request("FROBNICATE", "/runs"), 405, "ANT_GATEWAY_METHOD"],
    ["DELETE of a read-only path", request("DELETE", "/runs/run_a"), 405, "ANT_GATEWAY_METHOD"],
    ["GET of a path that takes only POST", request("GET", "/runs/run_a/retry"), 405, "ANT_GATEWAY_METHOD"],
    ["a path that does not exist", request("DELETE", "/nowhere"), 404, "ANT_GATEWAY_ROUTE"],
    [
      "headers that are too long",
      request("GET", "/runs", `X: ${"x".repeat(20_000)}\r\n`),
      431,
      "ANT_GATEWAY_HEADERS",
    ],
    ["a path that is too long", request("GET", `/${"x".repeat(20_000)}`), 431, "ANT_GATEWAY_HEADERS"],
    ["input that is not HTTP", "GET / and more\r\n\r\n", 400, "ANT_GATEWAY_REQUEST"],
    ["a malformed header", request("GET", "/runs", "no colon\r\n"), 400, "ANT_GATEWAY_REQUEST"],
  ])("%s", async (_what, text, status, code) => {
    const { url } = await door(null);
    const answer = await raw(url, text);
    expect(answer).toMatchObject({ status, body: { error: { code } } });
    expect((answer.body["error"] as Line)["remedy"]).not.toBe("");
  });

  test("a 405 names the methods that the path takes", async () => {
    const { url } = await door(null);
    expect((await raw(url, request("DELETE", "/runs"))).head).toMatch(/^allow: GET, HEAD$/im);
    expect((await raw(url, request("PUT", "/runs/run_a/events?x=1"))).head).toMatch(/^allow: GET, POST$/im);
    const file = "/runs/run_a/evidence/T-001/1/files/a/b";
    expect((await raw(url, request("POST", file))).head).toMatch(/^allow: GET, HEAD$/im);
  });
});

describe("the log", () => {
  test("records denied access with caller, address, route and reason, never the token", async () => {
    const { url, lines } = await door(TOKEN);
    await raw(url, request("GET", "/runs/run_a?token=abc"));
    await raw(url, request("GET", "/runs/run_a", "Authorization: Bearer wrong-secret\r\n"));
    await raw(url, request("POST", "/intents", `Authorization: Bearer ${TOKEN}\r\n`));
    await raw(url, request("GET", "/runs").replace("localhost", "evil.example"));
    const denied = { level: "warn", msg: "access denied", from: "127.0.0.1" };
    expect(lines).toMatchObject([
      { ...denied, by: "unknown", route: "GET /runs/:id", code: "ANT_GATEWAY_TOKEN_REQUIRED", status: 401 },
      { ...denied, by: "unknown", route: "GET /runs/:id", why: "the bearer token is wrong" },
      { ...denied, by: "token", route: "POST /intents", code: "ANT_SESSION_REQUIRED" },
      { ...denied, by: "unknown", route: "GET /runs", code: "ANT_GATEWAY_HOST", status: 403 },
    ]);
    for (const secret of [TOKEN, "wrong-secret", "abc"]) expect(JSON.stringify(lines)).not.toContain(secret);
  });

  test("records a caller's mistake as info without a stack, and a bug with one", async () => {
    const { url, lines } = await door(null);
    await raw(url, request("GET", "/runs?limit=many"));
    await raw(url, request("GET", "/dead-letters"));
    expect(lines).toMatchObject([
      {
        level: "info",
        msg: "request refused",
        route: "GET /runs",
        code: "ANT_CONTRACT_INVALID",
        status: 400,
      },
      { level: "warn", msg: "request failed", route: "GET /dead-letters", code: "ANT_INTERNAL", status: 500 },
    ]);
    expect(JSON.stringify(lines[0])).not.toContain("stack");
    expect(JSON.stringify(lines[1])).toContain("gateway-edge.test.ts");
  });
});

describe("a gateway with a token limits", () => {
  const wrong = request("GET", "/dead-letters", "Authorization: Bearer wrong-secret\r\n");
  const right = request("GET", "/openapi.json", `Authorization: Bearer ${TOKEN}\r\n`);

  test("an address that guesses: 429 with Retry-After, also for the right token, and each try is audited", async () => {
    const { url, lines } = await door(TOKEN);
    for (let at = 0; at < limits.wrongTokens; at += 1) expect((await raw(url, wrong)).status).toBe(401);
    for (const text of [wrong, right]) {
      const { status, head, body } = await raw(url, text);
      expect([status, (body["error"] as Line)["code"]]).toEqual([429, "ANT_GATEWAY_BUSY"]);
      expect(Number(/^retry-after: (\d+)$/im.exec(head)?.[1])).toBeGreaterThan(50);
    }
    expect(lines).toHaveLength(limits.wrongTokens + 2);
    expect(lines.at(-1)).toMatchObject({
      level: "warn",
      msg: "access denied",
      from: "127.0.0.1",
      status: 429,
    });
    expect((await raw(url, request("GET", "/healthz"))).status).toBe(200);
  });

  test("the requests of one caller in a minute, reads too; missing tokens and health probes do not count", async () => {
    vi.useFakeTimers({ toFake: ["performance"] }); // A slow machine takes longer than the minute.
    await door(TOKEN);
    const ask = (url: string, headers: Record<string, string> = {}) => {
      return server!.inject({ url, headers: { host: "localhost", ...headers } });
    };
    for (let at = 0; at <= limits.wrongTokens; at += 1) expect((await ask("/runs")).statusCode).toBe(401);
    const authorization = `Bearer ${TOKEN}`;
    expect((await ask("/openapi.json", { authorization })).statusCode).toBe(200);
    const statuses = new Set<number>();
    for (let at = 1; at < limits.callerRequests; at += 1)
      statuses.add((await ask("/runs?limit=none", { authorization })).statusCode);
    expect([...statuses]).toEqual([400]);
    const answer = await ask("/openapi.json", { authorization });
    expect(answer.statusCode).toBe(429);
    expect(Number(answer.headers["retry-after"])).toBeGreaterThan(0);
    expect((await ask("/healthz")).statusCode).toBe(200);
  });
});
