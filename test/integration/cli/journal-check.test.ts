/** `antiphon doctor --journal` against real servers: a clean journal, planted faults, and blocks damaged on the disk. */
import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { BUCKETS, digestOf, HEADERS, journalStream } from "@antiphon/contracts";
import { factsOf, runView } from "@antiphon/run";
import type { JournalFault } from "@antiphon/run";
import type { RawRecord, RunMaterial } from "@antiphon/contracts";
import {
  createLogger,
  openJournal,
  openKv,
  openRunArchive,
  openRunRestore,
  openSigningKey,
  provision,
  readRuntimeConfig,
  startService,
} from "@antiphon/runtime";
import type { Bus, RunningService } from "@antiphon/runtime";
import { finishRun, openRun } from "@antiphon/runtime/testing/finished-run";
import { signRecord } from "../../../runtime/src/process/signing-key.ts";
import { GatewayClient } from "../../../cli/src/gateway/gateway-client.ts";
import { checkJournal, type JournalReport } from "../../../cli/src/journal/journal-check.ts";
import { NO_ADAPTERS } from "../../../services/gateway/src/sessions/adapter-settings.ts";
import { start } from "../../../services/gateway/src/wiring.ts";
import { run as runProgram, ANTIPHON } from "../../e2e/support/program.ts";
import { startNats, type NatsServer } from "../../support/nats.ts";
import { CHANGES, journalMessages, publishRaw, type StoredMessage } from "../../support/planted-journal.ts";

const key = openSigningKey(null);

interface World {
  nats: NatsServer;
  bus: Bus;
  doctor(...args: string[]): Promise<{ code: number | null; report: JournalReport; text: string }>;
  url(): string;
  restart(): Promise<void>;
  close(): Promise<void>;
}

async function openWorld(): Promise<World> {
  const nats = await startNats({ maxFileStore: "320MB" });
  let bus = await nats.connect();
  await provision(bus);
  await openKv(bus, BUCKETS.keys).put(key.jwk.kid, key.jwk);
  let url = "";
  const settings = {
    host: "127.0.0.1",
    port: 0,
    token: null,
    sessionKey: null,
    people: [],
    directory: { roles: null, tenants: new Map() },
    oidc: null,
    hooks: [],
    allowedHosts: [],
    openRuns: 10_000,
    storeDir: null,
    devcontainer: "require" as const,
    adapters: NO_ADAPTERS,
    page: null,
    packFolders: [],
    notices: null,
  };
  const startGateway = (): Promise<RunningService> =>
    startService(
      {
        name: "gateway",
        async start(context) {
          const role = await start(context, settings);
          url = role.url;
          return role;
        },
      },
      { ...readRuntimeConfig({ ANTIPHON_NATS_URL: nats.url, ANTIPHON_UNSAFE_TRUST: "1" }), drainMs: 3_000 },
      createLogger("test", { level: "silent" }),
    );
  let gateway = await startGateway();
  const world: World = {
    nats,
    bus,
    url: () => url,
    async doctor(...args) {
      const said = await runProgram(process.execPath, [ANTIPHON, "doctor", "--journal", ...args], {
        env: { ANTIPHON_GATEWAY_URL: url },
      });
      const report = (args.includes("--json") ? JSON.parse(said.stdout) : null) as JournalReport;
      return { code: said.code, report, text: said.stdout + said.stderr };
    },
    /** Restarts the server with its changed store. */
    async restart() {
      await gateway.stop();
      await nats.restart();
      world.bus = bus = await nats.connect();
      gateway = await startGateway();
    },
    async close() {
      await gateway.stop();
      await nats.close();
    },
  };
  return world;
}

/** A small seeded generator, so that a failing draw can be reproduced. */
function draws(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    return (state >>> 8) % below;
  };
}

const placesOf = (faults: readonly JournalFault[]): (readonly [string | null, number | null])[] =>
  faults.map(({ subject, seq }) => [subject, seq] as const);

const RUNS = 30;
/** A kind of damage to a record; the others are in `CHANGES`. */
const LOST = "lost";
const DOUBLED = "written twice";
const KINDS = [...(Object.keys(CHANGES) as (keyof typeof CHANGES)[]), LOST, DOUBLED] as const;

/** Closed runs, each with an outside record that no other record names. */
async function writeRuns(bus: Bus): Promise<void> {
  const journal = openJournal(bus, { key });
  for (let i = 0; i < RUNS; i += 1) await finishRun(journal, `run_${i}`, `task ${i}`);
}

describe("a journal in which each run has one fault", () => {
  let healthy: World;
  let world: World;
  let messages: StoredMessage[];
  beforeAll(async () => {
    [healthy, world] = await Promise.all([openWorld(), openWorld()]);
    await writeRuns(healthy.bus);
    messages = await journalMessages(healthy.bus);
  });
  afterAll(() => Promise.all([healthy.close(), world.close()]));

  test("the same runs without a fault are intact", async () => {
    const { code, report } = await healthy.doctor("--json");
    expect([code, report.ok, report.faults]).toEqual([0, true, []]);
    expect([report.runs, report.records, report.unsigned]).toEqual([RUNS, messages.length, 0]);
    const one = await healthy.doctor("run_7");
    expect([one.code, one.text]).toEqual([0, expect.stringContaining("1 runs, 8 records checked: whole")]);
  });

  test("every fault is located by register and sequence, and reported once", async () => {
    const draw = draws(41);
    const planted = new Map<string, { kind: string; subject: string; seq: number }>();
    const doubled: StoredMessage[] = [];
    const out = [...messages];
    for (let i = 0; i < RUNS; i += 1) {
      const own = messages.filter(({ subject }) => subject.split(".")[5] === `run_${i}`);
      const kind = KINDS[i % KINDS.length] ?? LOST;
      // The first record has no cause to change; another test covers the loss of the last record.
      const usable = own.filter(({ headers }, at) =>
        kind === LOST
          ? at < own.length - 1
          : kind !== "another cause in the header" || headers[HEADERS.cause] !== undefined,
      );
      const victim = usable[draw(usable.length)];
      if (victim === undefined) throw new Error("nothing to change");
      planted.set(`run_${i}`, { kind, subject: victim.subject, seq: victim.seq });
      if (kind === DOUBLED) doubled.push(CHANGES["a flipped bit"](victim, draw(9_999)));
      else if (kind !== LOST) out[victim.seq - 1] = CHANGES[kind](victim, draw(9_999));
    }
    await publishRaw(world.bus, out);
    await publishRaw(world.bus, doubled);
    for (const { kind, seq } of planted.values())
      if (kind === LOST) await world.bus.jsm.streams.deleteMessage(journalStream(0), seq, false);

    const { code, report } = await world.doctor("--json");
    expect([code, report.ok]).toEqual([1, false]);
    const wrong: unknown[] = [];
    for (const [runId, plan] of planted) {
      const found = report.faults.filter((fault) => fault.runId === runId);
      const fits =
        found.length === 1 &&
        found[0]?.subject === plan.subject &&
        (plan.kind === DOUBLED || found[0].seq === plan.seq);
      if (!fits) wrong.push({ runId, ...plan, found });
    }
    const strays = report.faults.filter(({ runId }) => runId === null);
    console.log(
      `planted ${planted.size} faults of ${KINDS.length} kinds in ${RUNS} runs: ` +
        `${planted.size - wrong.length} located, ${strays.length} false alarms`,
    );
    expect(wrong).toEqual([]);
    expect(strays).toEqual([]);
  });

  test("a run that cannot be read is listed with its code, and the others are listed as usual", async () => {
    const answer = await fetch(`${world.url()}/runs?limit=100`);
    const { runs } = (await answer.json()) as { runs: { runId: string; status: string; code: string }[] };
    const corrupt = runs.filter(({ status }) => status === "corrupt");
    expect(corrupt.length).toBeGreaterThan(5);
    expect(new Set(corrupt.map(({ code }) => code))).toEqual(new Set(["ANT_JOURNAL_CORRUPT"]));
    expect(runs.length).toBeGreaterThanOrEqual(RUNS - 3); // One without its intent is no run to list.
  });
});

describe("records that no other one names", () => {
  let world: World;
  beforeAll(async () => (world = await openWorld()));
  afterAll(() => world.close());

  test("a lost last record of an open run is detected by its sequence and by the view", async () => {
    const journal = openJournal(world.bus, { key });
    const stored = await openRun(journal, "run_open");
    await finishRun(journal, "run_after");
    const last = stored.at(-1);
    if (last === undefined) throw new Error("no records");
    await world.bus.jsm.streams.deleteMessage(journalStream(0), last.seq, false);
    const { report } = await world.doctor("--json");
    expect(report.faults).toMatchObject([{ kind: "lost", seq: last.seq, subject: null }]);

    const view = { runId: "run_open", status: "running", steps: [step({ epoch: 1 })], artifacts: [] };
    await openKv(world.bus, BUCKETS.runs).put("run_open", view);
    const again = await world.doctor("--json");
    expect(again.report.faults).toMatchObject([{ kind: "missing", subject: last.subject }]);
    await openKv(world.bus, BUCKETS.runs).delete("run_open");
  });

  test("a run known only from its view has lost all its records: their registers are reported", async () => {
    const view = { runId: "run_gone", status: "succeeded", steps: [], artifacts: [] };
    await openKv(world.bus, BUCKETS.runs).put("run_gone", view);
    const { report } = await world.doctor("run_gone", "--json");
    expect(placesOf(report.faults)).toEqual([
      ["antiphon.v1.run.0.intent.run_gone.-.0", null],
      ["antiphon.v1.run.0.closed.run_gone.-.0", null],
    ]);
  });

  test("without a gateway the check fails to run, which is neither intact nor faulty", async () => {
    const said = await runProgram(process.execPath, [ANTIPHON, "doctor", "--journal"], {
      env: { ANTIPHON_GATEWAY_URL: "http://127.0.0.1:9" },
    });
    expect([said.code, said.stderr]).toEqual([2, expect.stringContaining("ANT_GATEWAY_UNREACHABLE")]);
  });
});

describe("a gateway that lies", () => {
  let world: World;
  let gateway: GatewayClient;
  beforeAll(async () => {
    world = await openWorld();
    const journal = openJournal(world.bus, { key });
    for (const runId of ["run_x", "run_y"]) await finishRun(journal, runId);
    gateway = new GatewayClient(world.url(), null);
  });
  afterAll(() => world.close());

  /** The real answers, one of them changed in transit. */
  async function told(
    lie: (material: RunMaterial) => RunMaterial,
    more: { trusted?: readonly string[]; keys?: readonly object[] } = {},
  ): Promise<JournalReport> {
    const get = async (...asked: ["/runs/{id}/journal", { id: string }]): Promise<unknown> => {
      const [path, params] = asked as [string, { id?: string } | undefined];
      const answer = await gateway.get(...asked);
      if (path === "/runs/{id}/journal" && params?.id === "run_x") return lie(answer);
      return path === "/keys" && more.keys !== undefined ? { keys: more.keys } : answer;
    };
    const source = { get: get as GatewayClient["get"] };
    const request = { runId: null, trusted: more.trusted ?? [], progress: () => undefined };
    return (await checkJournal(source, request)).report;
  }

  const eachRecord =
    (of: string, change: (record: RawRecord) => RawRecord | null) =>
    (material: RunMaterial): RunMaterial => ({
      ...material,
      records: material.records.flatMap((record) =>
        record.subject.includes(`.${of}.`) ? (change(record) ?? []) : record,
      ),
    });
  const otherBytes = (record: RawRecord): RawRecord => {
    const payload = Buffer.from(record.payload, "base64");
    payload[payload.length - 2] = (payload[payload.length - 2] ?? 0) ^ 1;
    const headers = { ...record.headers, [HEADERS.digest]: digestOf(payload) };
    return { ...record, payload: payload.toString("base64"), headers };
  };

  test("is reported as intact while it tells the truth", async () => {
    expect(await told((material) => material)).toMatchObject({ ok: true, runs: 2, faults: [] });
  });

  test.each<[string, (material: RunMaterial) => RunMaterial, string]>([
    ["gives other bytes and a digest that fits them", eachRecord("result", otherBytes), ".result."],
    ["leaves a record out, and says that this was all", eachRecord("result", () => null), ".result."],
    [
      "gives one under another cause",
      eachRecord("verdict", (record) => ({
        ...record,
        headers: { ...record.headers, [HEADERS.cause]: `1:${digestOf(new Uint8Array([2]))}` },
      })),
      ".verdict.",
    ],
    [
      "gives a decision a signature of its own",
      eachRecord("verdict", (record) => ({
        ...record,
        headers: { ...record.headers, [HEADERS.signature]: signRecord(key, digestOf(new Uint8Array([3]))) },
      })),
      ".verdict.",
    ],
  ])("that %s is detected at exactly that record", async (_what, lie, place) => {
    const { ok, faults } = await told(lie);
    expect(ok).toBe(false);
    expect(new Set(faults.map(({ runId }) => runId))).toEqual(new Set(["run_x"]));
    expect(faults.some(({ subject }) => subject?.includes(place) === true)).toBe(true);
  });

  test("is not believed if it publishes its own key under a Director's key id", async () => {
    const forged = openSigningKey(null);
    const resigned = eachRecord("verdict", (record) => ({
      ...record,
      headers: {
        ...record.headers,
        [HEADERS.signature]: signRecord(
          { ...forged, jwk: key.jwk },
          digestOf(Buffer.from(record.payload, "base64")),
        ),
      },
    }));
    const keys = [{ ...forged.jwk, kid: key.jwk.kid }];
    const { faults } = await told(resigned, { keys, trusted: [key.jwk.kid] });
    expect(faults.filter(({ runId }) => runId === "run_x").length).toBeGreaterThan(0);
  });
});

function step(over: object): object {
  return {
    ...{ id: "T-001", title: "t", kind: "edit_repo", status: "open", phase: "ready", epoch: 0, attempts: 0 },
    ...{ deps: [], verdict: null, code: null, message: null, commit: null, questions: [], associate: null },
    ...over,
  };
}

describe("runs that were archived", () => {
  let world: World;
  beforeAll(async () => (world = await openWorld()));
  afterAll(() => world.close());

  async function archive(runIds: readonly string[]): Promise<void> {
    const archiver = openRunArchive(world.bus, openJournal(world.bus));
    const packed = await archiver.pack(runIds, new Date(Date.now() + 60_000));
    await archiver.purge(await archiver.record(packed));
  }

  test("are intact in their packs, after a restore, and after they are archived again", async () => {
    const journal = openJournal(world.bus, { key });
    const ids = ["run_p", "run_q", "run_r"];
    for (const runId of ids) await finishRun(journal, runId);
    const verdict = async (): Promise<unknown> => {
      const { code, report } = await world.doctor("--json");
      return [code, report.faults, report.runs];
    };
    await archive(ids);
    expect(await verdict()).toEqual([0, [], 3]);
    await openRunRestore(world.bus, openJournal(world.bus)).restore("run_q", "local");
    expect(await verdict()).toEqual([0, [], 3]);
    await archive(["run_q"]);
    expect(await verdict()).toEqual([0, [], 3]);
  });

  test("a lost pack is reported for each of its runs", async () => {
    await world.bus.jsm.streams.purge(`OBJ_${BUCKETS.archive}`);
    const { code, report } = await world.doctor("run_p", "--json");
    expect(code).toBe(1);
    expect(report.faults).toMatchObject([{ kind: "archive", runId: "run_p", code: "ANT_ARCHIVE_CORRUPT" }]);
  });
});

describe("blocks damaged on the server's disk", () => {
  let world: World;
  beforeAll(async () => {
    world = await openWorld();
    const journal = openJournal(world.bus, { key });
    for (const runId of ["run_a", "run_b", "run_c"]) await finishRun(journal, runId);
  });
  afterAll(() => world.close());

  const store = (): string =>
    join(world.nats.dir, "store", "jetstream", "ANT", "streams", journalStream(0), "msgs");

  /** The journal's one block, changed while the server is down. */
  function damage(change: (block: Buffer) => Buffer): void {
    const [block] = readdirSync(store()).filter((name) => name.endsWith(".blk"));
    const file = join(store(), block ?? "");
    writeFileSync(file, change(readFileSync(file)));
  }

  test("a record that the server can no longer read is named, and its run is not read without it", async () => {
    const subject = "antiphon.v1.run.0.result.run_b.t-001.1";
    await world.nats.stop();
    damage((block) => {
      const at = block.indexOf(subject) + subject.length + 400;
      block[at] = (block[at] ?? 0) ^ 1;
      return block;
    });
    await world.restart();
    const { code, report } = await world.doctor("--json");
    expect(code).toBe(1);
    expect(report.faults).toMatchObject([
      { kind: "unreadable", runId: "run_b", subject, seq: 13, code: "ANT_JOURNAL_CORRUPT" },
    ]);
    await expect(openJournal(world.bus).read("run_b")).rejects.toMatchObject({ code: "ANT_JOURNAL_CORRUPT" });
    expect(await openJournal(world.bus).read("run_c")).toHaveLength(8);
    const seen = await fetch(`${world.url()}/runs/run_b`);
    expect(seen.status).toBe(500);
  });

  test("records that the server silently cuts off its last block are detected by the views", async () => {
    const views = openKv(world.bus, BUCKETS.runs);
    const cut = await openJournal(world.bus).read("run_c");
    await views.put("run_c", runView(factsOf(cut)));
    await views.put("run_b", { ...runView(factsOf(cut)), runId: "run_b" });
    await world.nats.kill();
    rmSync(join(store(), "index.db"), { force: true }); // As after a kill in the middle of writing.
    await world.restart();
    const { state } = await world.bus.jsm.streams.info(journalStream(0));
    expect(state.last_seq).toBe(12); // Of 24: the damaged record, and all that came after it.
    const { report, code } = await world.doctor("--json");
    expect(code).toBe(1);
    const missing = report.faults.filter(({ kind }) => kind === "missing").map(({ subject }) => subject);
    for (const runId of ["run_b", "run_c"])
      expect(missing).toContain(`antiphon.v1.run.0.closed.${runId}.-.0`);
    expect(missing).toContain("antiphon.v1.run.0.intent.run_c.-.0");
    expect(report.faults.filter(({ runId }) => runId === "run_a")).toEqual([]);
  });
});
