/**
 * contracts/C7: what an Associate that was taken over can do with its own credentials. Each attack is made with a bare
 * client, and judged by what the server holds afterwards.
 */
import { PermissionViolationError, createInbox, headers, type NatsConnection } from "@nats-io/nats-core";
import { connect } from "nats";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { BUCKETS, topology } from "../../../contracts/src/index.ts";
import { API_PREFIX } from "../../../contracts/src/principals/nats-accounts.ts";
import { openBlobs, openKv, type Bus } from "../../../runtime/src/index.ts";
import { eventually } from "../../support/nats.ts";
import { startProvisioned, type UsersServer } from "../../support/nats-users.ts";
import { patient } from "../../support/patience.ts";

const J = "ANT_JOURNAL_0";
const record = (type: string, run = "run_a"): string => `antiphon.v1.run.0.${type}.${run}.t-001.1`;

let server: UsersServer;
let rogue: NatsConnection;
let director: Bus;
let admin: Bus;
const refused: string[] = [];

beforeAll(async () => {
  server = await startProvisioned();
  director = await server.bus("director");
  admin = await server.bus("admin");
  rogue = await server.client("associate");
  void (async () => {
    for await (const status of rogue.status())
      if (status.type === "error" && status.error instanceof PermissionViolationError)
        refused.push(status.error.subject);
  })();
});

afterAll(() => server.close());

/** Returns when the server has seen everything the rogue sent, and what it caused. */
async function settled(): Promise<void> {
  await rogue.flush();
  await admin.nc.flush();
  await new Promise((resolve) => setImmediate(resolve));
}

async function attempt(subject: string, payload = "{}", reply?: string): Promise<void> {
  rogue.publish(subject, payload, reply === undefined ? {} : { reply });
  await settled();
}

async function count(stream: string, filter = ">"): Promise<number> {
  const { state } = await admin.jsm.streams.info(stream, { subjects_filter: filter });
  return Object.values(state.subjects ?? {}).reduce((sum, messages) => sum + messages, 0);
}

const messages = async (stream: string): Promise<number> =>
  (await admin.jsm.streams.info(stream)).state.messages;

describe("contracts/C7: a rogue Associate", () => {
  const forged = ["verdict", "landing", "closed", "approval", "dispatch", "routed", "intent", "requeue"];
  it.each([...forged, "cancel", "control", "input", "archived", "restored", "due"])(
    "cannot write a record of the type %s",
    async (type) => {
      await attempt(record(type));
      expect(refused).toContain(record(type));
      expect(await count(J, `antiphon.v1.run.*.${type}.>`)).toBe(0);
    },
  );

  it("cannot write a decision inside of an atomic batch that starts with a claim", async () => {
    const batch = (n: number, last = false) => {
      const fields = headers();
      fields.set("Nats-Batch-Id", "rogue");
      fields.set("Nats-Batch-Sequence", String(n));
      if (last) fields.set("Nats-Batch-Commit", "1");
      return fields;
    };
    rogue.publish(record("claim", "run_batch"), "{}", { headers: batch(1) });
    rogue.publish(record("verdict", "run_batch"), "{}", { headers: batch(2, true) });
    await settled();
    expect(await count(J, "antiphon.v1.run.*.*.run_batch.>")).toBe(0);
  });

  it.each([
    ["the manifest of a verdict", "$KV.ANT_EVIDENCE.run_a.T-001.1.verdict"],
    ["the view of a run", "$KV.ANT_RUNS.run_a"],
    ["a contract", "$KV.ANT_CONTRACTS.run_a.router"],
    ["the policy", "$KV.ANT_POLICIES.config"],
    ["a Director's key", "$KV.ANT_KEYS.rogue"],
    ["a budget", "$KV.ANT_BUDGETS.run_a"],
    ["a prepared environment", "$KV.ANT_ENVIRONMENTS.a"],
    ["a base tree", "$O.ANT_REPOS.M.a"],
    ["a layer of sandboxes", "$O.ANT_LAYERS.M.a"],
    ["a pack of archived runs", "$O.ANT_ARCHIVE.M.a"],
    ["a recording", "$O.ANT_RECORDINGS.M.a"],
    ["a session", "antiphon.v1.session.s1.0"],
    ["a timer", "antiphon.v1.timer.set.rest.run_a.t-001.1"],
    ["a dead letter of the Router", "antiphon.v1.dlq.router.intent.run_a.-.0"],
    ["output of a command", "antiphon.v1.log.run_a.t-001.stdout"],
    ["a cancel hint", "antiphon.v1.ctl.run_a"],
  ])("cannot write %s", async (_what, subject) => {
    await attempt(subject);
    expect(refused).toContain(subject);
  });

  it.each(["ANT_POLICIES", "ANT_INTENTS", "ANT_BUDGETS", "ANT_KEYS"])(
    "cannot read the bucket %s",
    async (bucket) => {
      const subject = `$JS.API.DIRECT.GET.KV_${bucket}.$KV.${bucket}.a`;
      await expect(rogue.request(subject, "", { timeout: patient(2_000) })).rejects.toThrow(
        /Permissions Violation/,
      );
    },
  );

  it("cannot read the sessions, which hold what people typed", async () => {
    const ask = '{"multi_last":["antiphon.v1.session.>"]}';
    await expect(rogue.request("$JS.API.DIRECT.GET.ANT_SESSIONS", ask)).rejects.toThrow(
      /Permissions Violation/,
    );
  });

  it.each([
    ...[`STREAM.PURGE.${J}`, `STREAM.DELETE.${J}`, `STREAM.UPDATE.${J}`, `STREAM.MSG.DELETE.${J}`],
    ...["STREAM.CREATE.ROGUE", `STREAM.SNAPSHOT.${J}`, `CONSUMER.DELETE.${J}.director`],
    ...[`CONSUMER.CREATE.${J}.rogue`, `CONSUMER.DURABLE.CREATE.${J}.rogue`, `CONSUMER.PAUSE.${J}.associate`],
    ...["CONSUMER.CREATE.ANT_SESSIONS.rogue", `CONSUMER.MSG.NEXT.${J}.director`],
    ...["STREAM.PURGE.OBJ_ANT_EVIDENCE_FILES", "STREAM.LIST", "CONSUMER.MSG.NEXT.ANT_TIMERS.timers"],
  ])("cannot use JetStream's %s, by neither name", async (request) => {
    for (const prefix of ["$JS.API", API_PREFIX])
      await expect(rogue.request(`${prefix}.${request}`, "{}", { timeout: patient(2_000) })).rejects.toThrow(
        /Permissions Violation/,
      );
  });

  it.each([
    [">"],
    ["antiphon.v1.run.>"],
    ["antiphon.v1.rpc.>"],
    ["$KV.>"],
    ["$JS.>"],
    ["_R_.>"],
    ["$SYS.>"],
    ["antiphon.v1.log.>"],
  ])("cannot listen on %s", async (subject) => {
    const heard = new Promise<string>((resolve) => {
      rogue.subscribe(subject, { callback: (error) => resolve(error?.message ?? "a message") });
    });
    await settled();
    expect(await heard).toMatch(/Permissions Violation/);
  });

  it("cannot answer a request for a sandbox: only the runner hears it", async () => {
    const subject = "antiphon.v1.rpc.sandbox.run";
    const runner = await server.client("sandbox-runner");
    runner.subscribe(subject, {
      queue: "sandbox-runner",
      callback: (_e, message) => void message.respond("true"),
    });
    await runner.flush();
    rogue.subscribe(subject, {
      queue: "sandbox-runner",
      callback: (error, message) => void (error === null && message.respond("exit 0")),
    });
    await settled();
    for (let i = 0; i < 20; i += 1)
      expect((await director.nc.request(subject, "job", { timeout: patient(5_000) })).string()).toBe("true");
    await runner.close();
  });

  it("cannot put an answer into another service's inbox, or into that of another Associate", async () => {
    const other = await server.client("associate");
    const heard: string[] = [];
    const inboxes = [director.nc, other].map((client) => {
      const inbox = createInbox();
      client.subscribe(inbox, { callback: (_error, message) => void heard.push(message.string()) });
      return inbox;
    });
    await Promise.all([director.nc.flush(), other.flush()]);
    for (const inbox of inboxes) await attempt(inbox, "forged");
    await Promise.all([director.nc.flush(), other.flush()]);
    expect(heard).toEqual([]);
    expect(refused).toEqual(expect.arrayContaining(inboxes));
    await other.close();
  });

  it("acknowledges its own deliveries, and cannot acknowledge those of another Associate", async () => {
    await director.js.publish(record("dispatch", "run_ack"), "work");
    const other = await server.client("associate");
    const inbox = createInbox();
    const delivered = new Promise<string>((resolve) => {
      other.subscribe(inbox, { callback: (_error, message) => resolve(message.reply ?? "") });
    });
    other.publish(`$JS.API.CONSUMER.MSG.NEXT.${J}.associate`, '{"batch":1,"expires":5000000000}', {
      reply: inbox,
    });
    const ack = await delivered;
    expect(ack).toMatch(/^\$JS\.ACK\./);
    const pending = async (): Promise<number> =>
      (await admin.jsm.consumers.info(J, "associate")).num_ack_pending;
    for (const verb of ["+ACK", "+TERM", "-NAK"]) await attempt(ack, verb);
    expect(refused).toContain(ack);
    expect(await pending()).toBe(1);
    other.publish(ack, "+ACK");
    await eventually("the holder's acknowledgement counts", async () => (await pending()) === 0);
    await other.close();
  });

  describe("names another's subject as the reply subject of a request it may make", () => {
    const targets = [
      record("approval", "run_reply"),
      record("verdict", "run_reply"),
      `$JS.API.STREAM.PURGE.${J}`,
      `$JS.API.STREAM.DELETE.${J}`,
      `$JS.API.CONSUMER.DELETE.${J}.director`,
      "$KV.ANT_POLICIES.config",
      "antiphon.v1.ctl.run_reply",
    ];

    /** Requests whose answers hold bytes that the Associate chose, or none at all. */
    async function answersTo(target: string): Promise<void> {
      await rogue.request("$O.ANT_EVIDENCE_FILES.C.chosen", '{"v":1,"type":"approval"}');
      await rogue.request("$O.ANT_EVIDENCE_FILES.C.empty", "");
      for (const name of ["chosen", "empty"])
        await attempt(
          `$JS.API.DIRECT.GET.OBJ_ANT_EVIDENCE_FILES.$O.ANT_EVIDENCE_FILES.C.${name}`,
          "",
          target,
        );
      const all = '{"multi_last":["$O.ANT_EVIDENCE_FILES.C.>"]}';
      await attempt("$JS.API.DIRECT.GET.OBJ_ANT_EVIDENCE_FILES", all, target);
      await attempt(`$JS.API.CONSUMER.MSG.NEXT.${J}.associate`, '{"batch":1,"no_wait":true}', target);
      await attempt(`${API_PREFIX}.STREAM.INFO.${J}`, "", target);
      await attempt("$O.ANT_EVIDENCE_FILES.C.stored", "chosen", target);
      await attempt("$SYS.REQ.SERVER.PING.JSZ", "{}", target);
      await attempt("antiphon.v1.rpc.sandbox.run", "{}", target);
    }

    it.each(targets)("%s: nothing arrives there", async (target) => {
      await director.js.publish(record("intent", `run_kept_${targets.indexOf(target)}`), "kept");
      const heard: string[] = [];
      const witness = admin.nc.subscribe(target, { callback: (_e, { subject }) => void heard.push(subject) });
      const before = await messages(J);
      const policies = await messages("KV_ANT_POLICIES");
      await answersTo(target);
      await settled();
      witness.unsubscribe();
      expect(heard).toEqual([]);
      expect(await messages(J)).toBe(before);
      expect(await messages("KV_ANT_POLICIES")).toBe(policies);
      expect((await admin.jsm.consumers.info(J, "director")).name).toBe("director");
    });

    it("the same request in the account of the streams does purge them, so the account is what protects", async () => {
      await admin.jsm.streams.add({ name: "TRIAL", subjects: ["trial.>"], allow_direct: true });
      await admin.js.publish("trial.a", '{"keep":0}');
      const get = "$JS.API.DIRECT.GET.TRIAL.trial.a";
      admin.nc.publish(get, "", { reply: "$JS.API.STREAM.PURGE.TRIAL" });
      await eventually("the stream is purged", async () => (await messages("TRIAL")) === 0);
      await admin.jsm.streams.delete("TRIAL");
    });
  });

  it("cannot remove other messages by a message of its own", async () => {
    const manifests = openKv(director, BUCKETS.evidence);
    await manifests.put("run_b.T-001.1.verdict", { verdict: "FAIL" });
    const kept = await openBlobs(director, BUCKETS.evidenceFiles).put(null, Buffer.from("a log"));
    for (const rollup of ["all", "sub"]) {
      const fields = headers();
      fields.set("Nats-Rollup", rollup);
      for (const subject of [
        "$KV.ANT_EVIDENCE.run_b.T-001.1",
        "$O.ANT_EVIDENCE_FILES.M.a",
        record("claim"),
      ]) {
        const answer = (await rogue.request(subject, "{}", { headers: fields, timeout: 5_000 })).json<{
          error?: object;
        }>();
        expect(answer.error, subject).toMatchObject({ description: "rollup not permitted" });
      }
    }
    expect((await manifests.get("run_b.T-001.1.verdict"))?.value).toEqual({ verdict: "FAIL" });
    expect((await openBlobs(director, BUCKETS.evidenceFiles).get(kept)).toString()).toBe("a log");
    const shared = topology.buckets.filter(({ rollups }) => rollups).map(({ name }) => name);
    expect(shared.sort()).toEqual(
      ["ANT_ARCHIVE", "ANT_CONTRACTS", "ANT_KEYS", "ANT_POLICIES", "ANT_REPOS", "ANT_RUNS"].sort(),
    );
  });

  it("does its own work: claims, reports, and writes its manifest and its files", async () => {
    const acks = [
      record("claim", "run_own"),
      record("result", "run_own"),
      "$KV.ANT_EVIDENCE.run_own.T-001.1",
    ];
    for (const subject of acks)
      expect((await rogue.request(subject, "{}")).json<{ seq?: number }>().seq, subject).toBeGreaterThan(0);
    const associate = await server.bus("associate");
    const files = openBlobs(associate, BUCKETS.evidenceFiles);
    const bytes = Buffer.alloc(1_000_000, 7);
    const ref = await files.put(null, bytes);
    expect((await files.get(ref)).equals(bytes)).toBe(true);
  });

  it("gets nothing from the server without credentials, with a token, or with an unknown key", async () => {
    const options = { servers: server.url, reconnect: false };
    await expect(connect(options)).rejects.toThrow(/Authorization/);
    await expect(connect({ ...options, token: "secret" })).rejects.toThrow(/Authorization/);
    await expect(connect({ ...options, user: "director", pass: "director" })).rejects.toThrow(
      /Authorization/,
    );
  });
});
