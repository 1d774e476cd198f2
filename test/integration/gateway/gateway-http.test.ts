import { connect } from "node:net";
import { text } from "node:stream/consumers";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { BUCKETS, limits } from "@antiphon/contracts";
import { openBlobs, provision, type Bus } from "@antiphon/runtime";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { cleanUpRepos, makeRepo } from "../../support/repo.ts";
import { StorageWatch } from "../../../services/gateway/src/backend/storage-watch.ts";
import { eventually, startNats } from "../../support/nats.ts";
import { errorOf, intentFor, openWorld } from "./gateway-world.ts";
import type { World } from "./gateway-world.ts";

let world: World;
let repo: string;
beforeAll(async () => {
  world = await openWorld();
  repo = makeRepo().path;
});
afterAll(async () => {
  await world.close();
  cleanUpRepos();
});

/** Fills a store of 320 MB above limits.storageAdmissionPercent. */
async function fill(bus: Bus): Promise<void> {
  const chunk = Buffer.alloc(8 << 20);
  await openBlobs(bus, BUCKETS.repos).putStream("ballast", async function* () {
    for (let i = 0; i < 33; i++) yield await Promise.resolve(chunk);
  });
}

async function newIntent(body: unknown): Promise<string> {
  const { body: answer } = await world.call("POST", "/intents", { body });
  return String(answer.intentId);
}

describe("the examples of RFC 000", () => {
  const SEED = { goal: "daily brief", inputs: { topics: ["infra"] }, constraints: {} };

  it("store an intent: 201, then 200 with the same id for the same body", async () => {
    const first = await world.call("POST", "/intents", { body: SEED });
    const again = await world.call("POST", "/intents", {
      raw: '{ "constraints":{}, "inputs":{"topics":["infra"]}, "goal":"daily brief" }',
    });
    expect([first.status, again.status]).toEqual([201, 200]);
    expect(again.body.intentId).toBe(first.body.intentId);
    const stored = await world.call("GET", `/intents/${String(first.body.intentId)}`);
    expect(stored.body.intent).toEqual(SEED);
  });

  it("run an intent with no body at all; without a repository that is a 422", async () => {
    const id = await newIntent(SEED);
    const answer = await world.call("POST", `/intents/${id}/run`);
    expect([answer.status, errorOf(answer).code, errorOf(answer).path]).toEqual([
      422,
      "ANT_INTENT_NO_REPO",
      "/inputs/repo",
    ]);
  });

  it("answer an id of any length with a coded refusal", async () => {
    const long = "a".repeat(600);
    const paths = [
      "/runs/%",
      "/intents/%",
      "/runs/%/events",
      "/runs/%/evidence/T-001/1",
      "/dead-letters/%",
      "/sessions/%/events",
    ];
    for (const path of paths) {
      const answer = await world.call("GET", path.replace("%", long));
      expect([path, answer.status, errorOf(answer).code]).toEqual([path, 404, "ANT_GATEWAY_ROUTE"]);
    }
  });

  it("send an event to a run, and get 404 if there is none", async () => {
    const answer = await world.call("POST", "/runs/run_123/events", {
      body: { event: "approval", choice: "approve" },
    });
    expect([answer.status, errorOf(answer).code]).toEqual([404, "ANT_RUN_NOT_FOUND"]);
  });
});

describe("gateway/G1: a refused request leaves nothing behind", () => {
  it.each([
    ["an empty goal", { goal: "", inputs: {}, constraints: {} }, "/goal"],
    ["a missing field", { goal: "x", inputs: {} }, "/constraints"],
    ["a list for an object", { goal: "x", inputs: [], constraints: {} }, "/inputs"],
    ["an unknown key", { goal: "x", inputs: {}, constraints: {}, limits: {} }, "/limits"],
    ["a list", [], ""],
  ])("a malformed intent (%s) is a 400 with the field's path", async (_what, body, path) => {
    const before = await world.stored();
    const answer = await world.call("POST", "/intents", { body });
    expect([answer.status, errorOf(answer).code, errorOf(answer).path]).toEqual([
      400,
      "ANT_INTENT_INVALID",
      path,
    ]);
    expect(await world.stored()).toBe(before);
  });

  it.each([
    ["no git repository", () => intentFor("/tmp"), 422, "ANT_REPO_NOT_GIT"],
    ["no such directory", () => intentFor("/nowhere/at/all"), 422, "ANT_REPO_NOT_FOUND"],
    ["a missing base", () => intentFor(repo, { base_ref: "nope" }), 422, "ANT_REPO_REF_NOT_FOUND"],
    ["an unknown agent", () => intentFor(repo, { agent: { kind: "magic" } }), 422, "ANT_AGENT_UNKNOWN"],
    [
      "text that is not a patch",
      () => intentFor(repo, { agent: { kind: "scripted", patch: { files: [{ path: "a", diff: "x" }] } } }),
      422,
      "ANT_PATCH_MALFORMED",
    ],
    ["an option of the wrong type", () => intentFor(repo, { checks: "npm test" }), 422, "ANT_INTENT_OPTIONS"],
    [
      "a patch too large for the journal",
      () =>
        intentFor(repo, {
          agent: {
            kind: "scripted",
            commands: [
              `: ${"x".repeat(8000)}`,
              ...Array.from({ length: 9 }, (_, i) => `: ${i}${"y".repeat(8000)}`),
            ],
          },
        }),
      413,
      "ANT_CONTRACT_LIMIT",
    ],
  ])("a run with %s is refused before the journal", async (_what, body, status, code) => {
    const id = await newIntent(body());
    const before = await world.stored();
    const answer = await world.call("POST", `/intents/${id}/run`);
    expect([answer.status, errorOf(answer).code]).toEqual([status, code]);
    expect(errorOf(answer).remedy).not.toBe("");
    expect(await world.stored()).toBe(before);
  });

  it("a dirty work tree is refused, and accepted if that is allowed", async () => {
    const dirty = makeRepo({ files: { "a.txt": "1\n" } }).path;
    writeFileSync(join(dirty, "a.txt"), "2\n");
    const refused = await world.call("POST", `/intents/${await newIntent(intentFor(dirty))}/run`);
    expect([refused.status, errorOf(refused).code]).toEqual([422, "ANT_REPO_DIRTY"]);
    const taken = await world.call(
      "POST",
      `/intents/${await newIntent(intentFor(dirty, {}, { allow_dirty: true }))}/run`,
    );
    expect(taken.status).toBe(202);
  });
});

describe("a 202", () => {
  it("gateway/G2: is sent only after the journal has the run, with the inspected base", async () => {
    const answer = await world.call("POST", `/intents/${await newIntent(intentFor(repo))}/run`);
    expect(answer.status).toBe(202);
    const [record] = await world.journal.read(String(answer.body.runId));
    expect(record?.type === "intent" && record.body.base.ref).toBe("refs/heads/main");
    const view = await world.call("GET", `/runs/${String(answer.body.runId)}`);
    expect(view.body).toEqual({ runId: answer.body.runId, status: "queued", steps: [], artifacts: [] });
  });

  it("lists the newest run first", async () => {
    const { body } = await world.call("POST", `/intents/${await newIntent(intentFor(repo))}/run`);
    const list = await world.call("GET", "/runs?limit=2");
    const runs = list.body.runs as Record<string, unknown>[];
    expect(runs).toHaveLength(2);
    expect(runs[0]).toMatchObject({ runId: body.runId, status: "queued", goal: "Do it", repo });
  });
});

describe("an Idempotency-Key", () => {
  it("gateway/G2: starts one run, even if it is sent repeatedly and in parallel", async () => {
    const id = await newIntent(intentFor(repo));
    const headers = { "idempotency-key": "key-1" };
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => world.call("POST", `/intents/${id}/run`, { headers })),
    );
    expect(new Set(answers.map((answer) => answer.status))).toEqual(new Set([202]));
    expect(new Set(answers.map((answer) => answer.body.runId)).size).toBe(1);
    expect((await world.journal.read(String(answers[0]?.body.runId))).length).toBe(1);
  });

  it("still names that run after the branch has moved", async () => {
    const moving = makeRepo({ files: { "a.txt": "1\n" } });
    const id = await newIntent(intentFor(moving.path));
    const headers = { "idempotency-key": "key-2" };
    const first = await world.call("POST", `/intents/${id}/run`, { headers });
    moving.commit("Move on", { "a.txt": "2\n" });
    const again = await world.call("POST", `/intents/${id}/run`, { headers });
    expect([again.status, again.body.runId, again.headers["idempotency-replayed"]]).toEqual([
      202,
      first.body.runId,
      "true",
    ]);
  });

  it("gateway/G2: is refused for another intent", async () => {
    const headers = { "idempotency-key": "key-3" };
    await world.call("POST", `/intents/${await newIntent(intentFor(repo))}/run`, { headers });
    const other = await world.call(
      "POST",
      `/intents/${await newIntent(intentFor(repo, { topics: ["other"] }))}/run`,
      { headers },
    );
    expect([other.status, errorOf(other).code]).toEqual([409, "ANT_GATEWAY_IDEMPOTENCY"]);
  });
});

describe("gateway/G5: every answer to bad input is coded JSON", () => {
  it.each([
    ["not JSON", "POST", "/intents", { raw: "{bad" }, 400, "ANT_GATEWAY_BODY"],
    ["no body", "POST", "/intents", {}, 400, "ANT_INTENT_INVALID"],
    ["a body of white space", "POST", "/sessions", { raw: "\n" }, 400, "ANT_GATEWAY_BODY"],
    [
      "a form",
      "POST",
      "/intents",
      { raw: "a=b", headers: { "content-type": "application/x-www-form-urlencoded" } },
      400,
      "ANT_GATEWAY_BODY",
    ],
    ["2 MiB", "POST", "/intents", { raw: Buffer.alloc(2 << 20, 32) }, 413, "ANT_GATEWAY_BODY_TOO_LARGE"],
    [
      "a key that poisons prototypes",
      "POST",
      "/intents",
      { raw: '{"goal":"x","inputs":{"__proto__":{}},"constraints":{}}' },
      400,
      "ANT_INTENT_INVALID",
    ],
    ["an unknown route", "GET", "/nope", {}, 404, "ANT_GATEWAY_ROUTE"],
    ["another method", "PUT", "/runs", {}, 405, "ANT_GATEWAY_METHOD"],
    ["a URL that cannot be decoded", "GET", "/runs/run_%zz", {}, 404, "ANT_GATEWAY_ROUTE"],
    ["an id with a wildcard", "GET", "/runs/run_*", {}, 404, "ANT_RUN_NOT_FOUND"],
    ["an id that is very long", "GET", `/runs/run_${"a".repeat(400)}`, {}, 404, "ANT_RUN_NOT_FOUND"],
    ["an invalid limit", "GET", "/runs?limit=-1", {}, 400, "ANT_CONTRACT_INVALID"],
    ["an unknown parameter", "GET", "/runs?statsu=failed", {}, 400, "ANT_CONTRACT_INVALID"],
    [
      "a key with spaces",
      "POST",
      "/intents/it_1/run",
      { headers: { "idempotency-key": "a b" } },
      400,
      "ANT_CONTRACT_INVALID",
    ],
    ["a body for a run", "POST", "/intents/it_1/run", { body: { options: {} } }, 422, "ANT_INTENT_OPTIONS"],
  ])("to %s", async (_what, method, path, call, status, code) => {
    const answer = await world.call(method, path, call);
    expect([answer.status, errorOf(answer).code]).toEqual([status, code]);
  });

  it("gateway/G4: refuses foreign hosts and origins before it reads a body", async () => {
    const host = await world.call("POST", "/intents", { raw: "{bad", headers: { host: "evil.example" } });
    const origin = await world.call("POST", "/intents", {
      raw: "{bad",
      headers: { origin: "http://evil.example" },
    });
    expect([host.status, errorOf(host).code]).toEqual([403, "ANT_GATEWAY_HOST"]);
    expect([origin.status, errorOf(origin).code]).toEqual([403, "ANT_GATEWAY_ORIGIN"]);
  });

  it("survives a caller that sends garbage and hangs up", async () => {
    const { port } = new URL(world.url);
    const socket = connect(Number(port), "127.0.0.1");
    socket.write("GARBAGE\r\n\r\n");
    await new Promise((resolve) => socket.once("close", resolve).resume());
    expect((await world.call("GET", "/healthz")).status).toBe(200);
  });

  it("lists the running services for a supervisor", async () => {
    await eventually("both services answer", async () => {
      const { body } = await world.call("GET", "/services");
      const names = (body.services as { name: string }[]).map(({ name }) => name).sort();
      return names.join() === "director,gateway";
    });
    expect((await world.call("GET", "/metrics")).text).toContain("antiphon_bus_up");
  });
});

describe("a gateway with a token", () => {
  it("answers callers with the token, and health probes", async () => {
    const closed = await openWorld({ token: "s3cret" });
    try {
      const bare = await closed.call("GET", "/runs");
      expect([bare.status, errorOf(bare).code, bare.headers["www-authenticate"]]).toEqual([
        401,
        "ANT_GATEWAY_TOKEN_REQUIRED",
        "Bearer",
      ]);
      expect(
        (await closed.call("GET", "/runs", { headers: { authorization: "Bearer s3cret" } })).status,
      ).toBe(200);
      expect((await closed.call("GET", "/readyz")).status).toBe(200);
    } finally {
      await closed.close();
    }
  });
});

describe("prompts", () => {
  it("are taken with a control-plane issued, short-lived session token only", async () => {
    const closed = await openWorld({ token: "s3cret" });
    const bearer = (token: string) => ({ headers: { authorization: `Bearer ${token}` } });
    try {
      const before = await closed.stored();
      const body = intentFor(repo);
      const direct = await closed.call("POST", "/intents", { body, ...bearer("s3cret") });
      expect([direct.status, errorOf(direct).code]).toEqual([401, "ANT_SESSION_REQUIRED"]);
      expect((await closed.call("POST", "/sessions")).status).toBe(401);
      const opened = await closed.call("POST", "/sessions", bearer("s3cret"));
      expect(opened.status).toBe(201);
      const { token, expiresAt, keys } = opened.body as { token: string; expiresAt: string; keys: unknown[] };
      expect(Date.parse(expiresAt) - Date.now()).toBeLessThanOrEqual(limits.sessionTokenS * 1000);
      expect(keys).toHaveLength(1);
      expect(await closed.stored()).toBe(before);
      expect((await closed.call("POST", "/intents", { body, ...bearer(token) })).status).toBe(201);
      expect((await closed.call("GET", "/runs", bearer(token))).status).toBe(200);
      const prolong = await closed.call("POST", "/sessions", bearer(token));
      expect([prolong.status, errorOf(prolong).code]).toEqual([401, "ANT_GATEWAY_TOKEN_REQUIRED"]);
    } finally {
      await closed.close();
    }
  });
});

describe("every spelling of a path", () => {
  /** Sends the raw request line: a client library would drop the part after `#`. */
  function ask(url: string, method: string, path: string, token: string | null): Promise<string> {
    const { port } = new URL(url);
    const bearer = token === null ? "" : `Authorization: Bearer ${token}\r\n`;
    const length = method === "POST" ? "Content-Length: 0\r\n" : "";
    const socket = connect(Number(port), "127.0.0.1");
    socket.write(
      `${method} ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n${bearer}${length}\r\n`,
    );
    return text(socket);
  }

  it("gateway/G4: a session token opens no session, and the deployment's token opens one and nothing else", async () => {
    const closed = await openWorld({ token: "s3cret" });
    const status = async (method: string, path: string, token: string | null): Promise<string> =>
      /^HTTP\/1\.1 (\d+)/.exec(await ask(closed.url, method, path, token))?.[1] ?? "";
    try {
      const opened = await closed.call("POST", "/sessions", { headers: { authorization: "Bearer s3cret" } });
      const session = String(opened.body.token);
      for (const path of ["/sessions", "/%73essions", "/sessions#x", "/v1/session%73", "/sessions?#b"]) {
        expect([path, await status("POST", path, session)]).toEqual([path, "401"]);
        expect([path, await status("POST", path, "s3cret")]).toEqual([path, "201"]);
      }
      for (const path of ["/%69ntents", "/intents#/sessions", "/intents?/sessions"])
        expect([path, await status("POST", path, "s3cret")]).toEqual([path, "401"]);
      for (const path of ["/%68ealthz", "/readyz?verbose=1", "/healthz#x"])
        expect([path, await status("GET", path, null)]).toEqual([path, "200"]);
      for (const path of ["/runs#/healthz", "/runs?/healthz", "/healthz/", "/nowhere"])
        expect([path, await status("GET", path, null)]).toEqual([path, "401"]);
    } finally {
      await closed.close();
    }
  });
});

describe("a store that is nearly full", () => {
  it("accepts nothing new, but existing runs can be read and canceled", async () => {
    const tight = await openWorld({}, { maxFileStore: "320MB" });
    try {
      const { body } = await tight.call("POST", "/intents", { body: intentFor(repo) });
      const path = `/intents/${String(body.intentId)}/run`;
      const run = await tight.call("POST", path);
      expect(run.status).toBe(202);
      await fill(tight.bus);
      await eventually("the gateway knows", async () => (await tight.call("POST", path)).status !== 202);
      const refused = await tight.call("POST", path);
      expect([refused.status, errorOf(refused).code, refused.headers["retry-after"]]).toEqual([
        503,
        "ANT_NATS_NO_SPACE",
        "1",
      ]);
      expect((await tight.call("POST", "/intents", { body: intentFor("/other") })).status).toBe(503);
      for (const [asked, told] of [
        ["/readyz", { status: "ready", storage: { code: "ANT_NATS_NO_SPACE" } }],
        ["/services", { storage: { code: "ANT_NATS_NO_SPACE" } }],
      ] as const)
        expect(await tight.call("GET", asked)).toMatchObject({ status: 200, body: told });
      expect((await tight.call("GET", `/runs/${String(run.body.runId)}`)).status).toBe(200);
      const cancel = await tight.call("POST", `/runs/${String(run.body.runId)}/events`, {
        body: { event: "cancel" },
      });
      expect(cancel.status).toBe(202);
    } finally {
      await tight.close();
    }
  });
});

describe("a store whose fill level is unknown", () => {
  it("accepts new work without waiting for an answer", async () => {
    const silent = await startNats({ tellsDurability: false });
    try {
      const bus = await silent.connect({ unsafeDurability: true });
      const watch = new StorageWatch(bus);
      await watch.admit(); // nobody answers such a question on this server

      silent.pause();
      const stuck = new StorageWatch(bus);
      const startedAt = performance.now();
      await stuck.admit();
      const tookMs = performance.now() - startedAt;
      silent.resume();
      expect(tookMs).toBeLessThan(1_000);
    } finally {
      await silent.close();
    }
  });

  it("is queried over HTTP if it has a monitoring endpoint, as in compose and Kubernetes", async () => {
    const tight = await startNats({ maxFileStore: "320MB", tellsDurability: false });
    try {
      const bus = await tight.connect({ monitorUrl: tight.monitorUrl });
      await provision(bus);
      await new StorageWatch(bus).admit();
      await fill(bus);
      await expect(new StorageWatch(bus).admit()).rejects.toMatchObject({ code: "ANT_NATS_NO_SPACE" });

      const unreachable = "http://127.0.0.1:1";
      const besides = new StorageWatch({ ...bus, monitorUrl: `${unreachable},${tight.monitorUrl}` });
      await expect(besides.admit()).rejects.toMatchObject({ code: "ANT_NATS_NO_SPACE" });
      await new StorageWatch({ ...bus, monitorUrl: unreachable }).admit();
    } finally {
      await tight.close();
    }
  });

  it("is queried again, and a later answer counts", async () => {
    const tight = await startNats({ maxFileStore: "320MB" });
    try {
      const bus = await tight.connect();
      await provision(bus);
      await fill(bus);
      const watch = new StorageWatch(bus);
      tight.pause();
      await watch.admit();
      tight.resume();
      const said = (): Promise<string> =>
        watch.admit().then(
          () => "admitted",
          (error: unknown) => (error as { code: string }).code,
        );
      await eventually("it was told", async () => (await said()) === "ANT_NATS_NO_SPACE");
    } finally {
      await tight.close();
    }
  });
});

describe("without NATS", () => {
  it("answers 503 within 3 s, never 202, and continues when NATS is back", async () => {
    const id = await newIntent(intentFor(repo));
    world.nats.pause(); // The connection stands, but nobody answers: the worst kind of outage.
    const stuck = await world.call("POST", `/intents/${id}/run`, {
      headers: { "idempotency-key": "outage" },
    });
    expect([stuck.status, errorOf(stuck).code, stuck.headers["retry-after"]]).toEqual([
      503,
      "ANT_NATS_UNREACHABLE",
      "1",
    ]);
    expect(stuck.ms).toBeLessThan(3_000);
    world.nats.resume();

    await world.nats.kill();
    await eventually("the gateway notices", async () => (await world.call("GET", "/readyz")).status === 503);
    const down = await world.call("POST", `/intents/${id}/run`);
    expect([down.status, errorOf(down).code]).toEqual([503, "ANT_NATS_UNREACHABLE"]);
    expect((await world.call("GET", "/healthz")).status).toBe(200);

    await world.nats.restart();
    await eventually("the gateway is back", async () => (await world.call("GET", "/readyz")).status === 200);
    const back = await world.call("POST", `/intents/${id}/run`, { headers: { "idempotency-key": "outage" } });
    expect(back.status).toBe(202);
  });
});
