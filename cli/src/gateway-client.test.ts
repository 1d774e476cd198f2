import { afterEach, expect, test, vi } from "vitest";
import { GatewayClient } from "./gateway-client.ts";

interface Asked {
  readonly method: string;
  readonly path: string;
  readonly bearer: string | null;
  readonly key: string | null;
}

afterEach(() => {
  vi.unstubAllGlobals();
  vi.useRealTimers();
});

/** Stands for the network: answers each request by what `answer` makes of it. */
function network(answer: (asked: Asked, nth: number) => Response): Asked[] {
  const asked: Asked[] = [];
  vi.stubGlobal("fetch", (url: string, init: { method: string; headers: Record<string, string> }) => {
    const { authorization = null, "idempotency-key": key = null } = init.headers;
    asked.push({ method: init.method, path: new URL(url).pathname, bearer: authorization, key });
    return new Promise((resolve) => resolve(answer(asked.at(-1)!, asked.length)));
  });
  return asked;
}

const json = (status: number, body: object): Response => new Response(JSON.stringify(body), { status });
const session = (token: string): Response => json(201, { token });
const no = (status: number, code: string): Response =>
  json(status, { error: { code, message: "no", remedy: "do this" } });
const lost = (code: string): never => {
  throw Object.assign(new TypeError("fetch failed"), { cause: { code } });
};
const client = (): GatewayClient => new GatewayClient("http://127.0.0.1:1", "deployment");

test("G1 no gateway, a stranger in its place and a gateway that says no are told apart, each with a remedy", async () => {
  network(({ path }) => {
    if (path === "/none") return lost("ECONNREFUSED");
    return path === "/stranger" ? new Response("<html>", { status: 404 }) : no(404, "ANT_RUN_NOT_FOUND");
  });
  const failures = await Promise.all(
    ["/none", "/stranger", "/runs/x"].map((path) =>
      client()
        .get(path)
        .catch((error: unknown) => error),
    ),
  );
  expect(failures).toMatchObject([
    { code: "ANT_GATEWAY_UNREACHABLE", data: { lost: false } },
    { code: "ANT_GATEWAY_UNREACHABLE", data: { httpStatus: 404 } },
    { code: "ANT_RUN_NOT_FOUND", remedy: "do this", data: { httpStatus: 404 } },
  ]);
  for (const failure of failures) expect((failure as { remedy: string }).remedy).not.toBe("");
});

test("G2 what starts something is sent again under the same key when its answer is lost or there is no room yet", async () => {
  vi.useFakeTimers();
  const asked = network(({ path }, nth) => {
    if (path === "/sessions") return session("short");
    if (nth === 2) return lost("ECONNRESET");
    return nth === 3 ? no(503, "ANT_NATS_UNREACHABLE") : json(202, { runId: "run_a" });
  });
  const started = client().postOnce("/intents/i/run", {}, "key-1");
  await vi.runAllTimersAsync();
  expect(await started).toEqual({ runId: "run_a" });
  expect(asked.slice(1).map(({ key }) => key)).toEqual(["key-1", "key-1", "key-1"]);
});

test("G2 what was refused, or reached nobody, is not sent again", async () => {
  for (const answer of [() => no(422, "ANT_INTENT_INVALID"), () => lost("ECONNREFUSED")]) {
    const asked = network(({ path }) => (path === "/sessions" ? session("short") : answer()));
    await expect(client().postOnce("/intents/i/run", {}, "key-1")).rejects.toHaveProperty("code");
    expect(asked).toHaveLength(2);
  }
});

test("G3 what is said goes with the session's token, opened once and again when it has ended; what is read does not", async () => {
  let sessions = 0;
  const asked = network(({ path, bearer, method }) => {
    if (path === "/sessions") return session(`short-${(sessions += 1)}`);
    const isOld = method === "POST" && bearer === "Bearer short-1" && path === "/third";
    return isOld ? no(401, "ANT_SESSION_EXPIRED") : json(200, {});
  });
  const gateway = client();
  await gateway.get("/read");
  for (const path of ["/first", "/second", "/third"]) await gateway.post(path, {});
  expect(asked.map(({ path, bearer }) => `${path} ${bearer}`)).toEqual([
    "/read Bearer deployment",
    "/sessions Bearer deployment",
    "/first Bearer short-1",
    "/second Bearer short-1",
    "/third Bearer short-1",
    "/sessions Bearer deployment",
    "/third Bearer short-2",
  ]);
});
