import { afterEach, expect, test, vi } from "vitest";
import { GatewayClient } from "./gateway-client.ts";
import type { Answer, HttpPort } from "./http-exchange.ts";

interface Said {
  readonly method: string;
  readonly path: string;
  readonly bearer: string | null;
  readonly key: string | null;
}

afterEach(() => {
  vi.useRealTimers();
});

type Reply = Omit<Answer, "url">;

/** A client and the requests it made. In place of the network, `answer` answers each request. */
function network(answer: (said: Said, nth: number) => Reply): { said: Said[]; client: GatewayClient } {
  const said: Said[] = [];
  const port: HttpPort = {
    async exchange(url, { method, headers }) {
      const { authorization = null, "idempotency-key": key = null } = headers;
      const one = { method, path: new URL(url).pathname, bearer: authorization, key };
      said.push(one);
      return { url, ...answer(one, said.length) };
    },
    open: () => Promise.reject(new Error("not asked for here")),
  };
  return { said, client: new GatewayClient("http://127.0.0.1:1", "deployment", "1.3.0", port) };
}

const page = (status: number, text: string): Reply => ({ status, body: Buffer.from(text) });
const json = (status: number, body: object): Reply => page(status, JSON.stringify(body));
const session = (token: string): Reply => json(201, { token });
const no = (status: number, code: string): Reply =>
  json(status, { error: { code, message: "no", remedy: "do this" } });
const lost = (code: string): never => {
  throw Object.assign(new Error("lost"), { code });
};

test("a missing gateway, another program in its place and a refusal are distinguished, each with a remedy", async () => {
  const { client } = network(({ path }) => {
    if (path === "/journal") return lost("ECONNREFUSED");
    return path === "/keys" ? page(404, "<html>") : no(404, "ANT_RUN_NOT_FOUND");
  });
  const failures = await Promise.all(
    [client.get("/journal"), client.get("/keys"), client.get("/runs/{id}", { id: "x" })].map((asked) =>
      asked.catch((error: unknown) => error),
    ),
  );
  expect(failures).toMatchObject([
    {
      code: "ANT_GATEWAY_UNREACHABLE",
      data: { lost: false },
      remedy: expect.stringMatching(/^Start one/) as string,
    },
    {
      code: "ANT_GATEWAY_UNREACHABLE",
      data: { httpStatus: 404 },
      remedy: expect.stringContaining("correct ANTIPHON_GATEWAY_URL") as string,
    },
    { code: "ANT_RUN_NOT_FOUND", remedy: "do this", data: { httpStatus: 404 } },
  ]);
  for (const failure of failures) expect((failure as { remedy: string }).remedy).not.toBe("");
});

test("a gateway of an older release is asked to start nothing, and everything else", async () => {
  const { said, client } = network(({ path }) =>
    path === "/sessions" ? json(201, { token: "t", version: "1.2.9" }) : json(202, { ok: true }),
  );
  const intent = { goal: "g", inputs: {}, constraints: {} };
  const older = {
    code: "ANT_GATEWAY_OLDER",
    message: "http://127.0.0.1:1 is Antiphon 1.2.9, and this command line is 1.3.0",
  };
  await expect(client.postOnce("/intents", {}, intent, "k")).rejects.toMatchObject(older);
  await expect(client.post("/runs/{id}/retry", { id: "run_1" }, undefined)).rejects.toMatchObject(older);
  await client.post("/runs/{id}/events", { id: "run_1" }, { event: "cancel" });
  expect(said.map(({ path }) => path)).toEqual(["/sessions", "/runs/run_1/events"]);
});

test("a request that starts a run is sent again under the same key if its answer is lost or is a 503", async () => {
  vi.useFakeTimers();
  const { said, client } = network(({ path }, nth) => {
    if (path === "/sessions") return session("short");
    if (nth === 2) return lost("ECONNRESET");
    return nth === 3 ? no(503, "ANT_NATS_UNREACHABLE") : json(202, { runId: "run_a" });
  });
  const started = client.postOnce("/intents/{id}/run", { id: "i" }, undefined, "key-1");
  await vi.runAllTimersAsync();
  expect(await started).toEqual({ runId: "run_a" });
  expect(said.slice(1).map(({ key }) => key)).toEqual(["key-1", "key-1", "key-1"]);
});

test("a request that was refused, or never reached a gateway, is not sent again", async () => {
  for (const answer of [() => no(422, "ANT_INTENT_INVALID"), () => lost("ECONNREFUSED")]) {
    const { said, client } = network(({ path }) => (path === "/sessions" ? session("short") : answer()));
    await expect(
      client.postOnce("/intents/{id}/run", { id: "i" }, undefined, "key-1"),
    ).rejects.toHaveProperty("code");
    expect(said).toHaveLength(2);
  }
});

test("a GET is retried while the gateway is down, at most four times in all", async () => {
  vi.useFakeTimers();
  const away = [() => lost("ECONNRESET"), () => page(502, "<html>")];
  const { said, client } = network((_, nth) => away[nth - 1]?.() ?? json(200, { here: true }));
  const asked = client.get("/runs");
  await vi.runAllTimersAsync();
  expect(await asked).toEqual({ here: true });
  expect(said).toHaveLength(3);

  const never = network(() => lost("ECONNRESET"));
  const failed = never.client.get("/runs").catch((error: unknown) => error);
  await vi.runAllTimersAsync();
  expect(await failed).toMatchObject({ code: "ANT_GATEWAY_UNREACHABLE", exitCode: 4 });
  expect(never.said).toHaveLength(4);
});

test("a POST carries the token of a session, which is opened once and again after it expires; a GET does not", async () => {
  let sessions = 0;
  const { said, client } = network(({ path, bearer, method }) => {
    if (path === "/sessions") return session(`short-${(sessions += 1)}`);
    const isOld = method === "POST" && bearer === "Bearer short-1" && path === "/runs/third/retry";
    return isOld ? no(401, "ANT_SESSION_EXPIRED") : json(200, {});
  });
  await client.get("/keys");
  for (const id of ["first", "second", "third"]) await client.post("/runs/{id}/retry", { id }, undefined);
  expect(said.map(({ path, bearer }) => `${path} ${bearer}`)).toEqual([
    "/keys Bearer deployment",
    "/sessions Bearer deployment",
    "/runs/first/retry Bearer short-1",
    "/runs/second/retry Bearer short-1",
    "/runs/third/retry Bearer short-1",
    "/sessions Bearer deployment",
    "/runs/third/retry Bearer short-2",
  ]);
});
