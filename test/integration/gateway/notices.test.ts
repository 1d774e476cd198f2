/** Another system is told what waits for people and what has ended, by a real server that may fail. */
import { spawn, type ChildProcess } from "node:child_process";
import { createHmac } from "node:crypto";
import { writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { BUCKETS, validate, type Notice } from "@antiphon/contracts";
import { closedRecord } from "@antiphon/contracts/testing/records";
import { openKv } from "@antiphon/runtime";
import { noticeSettings } from "../../../services/gateway/src/notices/notice-settings.ts";
import { eventually } from "../../e2e/support/program.ts";
import { endOf, freePorts } from "../../support/nats.ts";
import { cleanUpRepos, makeRepo, tempDir } from "../../support/repo.ts";
import { intentFor, openWorld, type World } from "./gateway-world.ts";
import { untilDecision } from "./waiting-run.ts";
import { builtProgram } from "../../support/built-program.ts";
import { patient } from "../../support/patience.ts";

const KEY = Buffer.alloc(32, 7);

interface Told {
  readonly id: string;
  readonly notice: Notice;
  readonly isSigned: boolean;
}

let server: Server;
let url: string;
let told: Told[];
/** The status of each answer. */
let answers: () => number;
const worlds: World[] = [];

beforeEach(async () => {
  told = [];
  answers = () => 204;
  server = createServer((request, response) => {
    void (async () => {
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk as Buffer);
      const body = Buffer.concat(chunks).toString("utf8");
      const [id, timestamp, signature] = ["id", "timestamp", "signature"].map((name) =>
        String(request.headers[`webhook-${name}`]),
      );
      const expected = createHmac("sha256", KEY).update(`${id}.${timestamp}.${body}`).digest("base64");
      const isNow = Math.abs(Date.now() / 1000 - Number(timestamp)) < 60;
      const isSigned = signature === `v1,${expected}` && isNow;
      told.push({ id: id ?? "", notice: JSON.parse(body) as Notice, isSigned });
      response.writeHead(answers(), { location: "http://127.0.0.1:1/" }).end();
    })();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/told?to=chat`;
});
afterEach(async () => {
  for (const world of worlds.splice(0)) await world.close();
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
  cleanUpRepos();
});

function settingsIn(stateDir: string) {
  const secret = `${stateDir}/secret`;
  writeFileSync(secret, `whsec_${KEY.toString("base64")}\n`, { mode: 0o600 });
  return noticeSettings({
    ANTIPHON_NOTIFY_URL: url,
    ANTIPHON_NOTIFY_SECRET: secret,
    ANTIPHON_PAGE_URL: "https://antiphon.example/",
    ANTIPHON_STATE_DIR: stateDir,
  });
}

async function worldAt(stateDir: string): Promise<World> {
  const world = await openWorld({ notices: settingsIn(stateDir) });
  worlds.push(world);
  return world;
}

async function begin(world: World): Promise<string> {
  const repo = makeRepo({ files: { "a.txt": "1\n" } }).path;
  const intent = { ...intentFor(repo), constraints: { approvals: { needed: 1 } } };
  const { body } = await world.call("POST", "/intents", { body: intent });
  const started = await world.call("POST", `/intents/${String(body["intentId"])}/run`);
  return String(started.body["runId"]);
}

const untilTold = (count: number): Promise<Told[]> =>
  eventually(`${count} notices`, () => (told.length >= count ? told : null));

describe("another system", () => {
  it("is told of a change that waits and of the end of the run, signed, with the way to the page", async () => {
    const world = await worldAt(tempDir());
    const runId = await begin(world);
    const verdict = await untilDecision(world, runId, "a.txt");
    await untilTold(1);
    await world.journal.append(closedRecord(runId));
    const [waits, ended] = await untilTold(2);
    for (const one of told) {
      expect(validate("Notice", one.notice)).toMatchObject({ ok: true });
      expect(one.isSigned).toBe(true);
    }
    expect(waits?.notice).toMatchObject({
      type: "run.approval",
      data: { run: runId, task: "T-001", verdict, needed: 1, requester: "local" },
    });
    expect(waits?.notice.data.link).toBe(`https://antiphon.example/#/runs/${runId}`);
    expect(ended?.notice).toMatchObject({ type: "run.ended", data: { run: runId } });
    expect(new Set(told.map(({ id }) => id)).size).toBe(2);
  });

  it("gateway/G11: that refuses, redirects or is away is told again with the same id", async () => {
    const statuses = [503, 302, 400];
    answers = () => statuses.shift() ?? 200;
    const world = await worldAt(tempDir());
    const runId = await begin(world);
    await untilDecision(world, runId, "a.txt");
    const all = (await untilTold(4)).slice(0, 4);
    expect(new Set(all.map(({ id }) => id)).size).toBe(1);
  });

  it("gateway/G11: holds no run up while it refuses, and is not told of a question that a person has decided", async () => {
    let isUp = false;
    answers = () => (isUp ? 200 : 503);
    const world = await worldAt(tempDir());
    const runId = await begin(world);
    await untilDecision(world, runId, "a.txt");
    await untilTold(1);
    const said = await world.call("POST", `/runs/${runId}/events`, {
      body: { event: "approval", choice: "approve" },
    });
    expect(said.status, "the person decides meanwhile").toBe(202);
    const before = told.length;
    isUp = true;
    await world.journal.append(closedRecord(runId));
    await eventually("the end is told", () => told.find(({ notice }) => notice.type === "run.ended") ?? null);
    expect(told.slice(before + 1).map(({ notice }) => notice.type)).not.toContain("run.approval");
  });

  it("gateway/G11: is told after a restart what it was not told before it, and not the rest again", async () => {
    const stateDir = tempDir();
    const first = await worldAt(stateDir);
    const [one, other] = [await begin(first), await begin(first)];
    await untilDecision(first, one, "a.txt");
    await untilTold(1);
    answers = () => 503;
    await untilDecision(first, other, "a.txt");
    await untilTold(2);
    await first.restartGateway();
    answers = () => 200;
    const all = await eventually("the second one told again", () => (told.length >= 3 ? told : null));
    expect(all.map(({ notice }) => notice.data.run).filter((run) => run === one)).toHaveLength(1);
    expect(all.at(-1)?.notice.data.run).toBe(other);
    expect(all.at(-1)?.id).toBe(all[1]?.id);
  });
});

describe("of two gateways that have the address", () => {
  const SCRIPT = new URL("../../support/gateway-process.ts", import.meta.url);
  const gateways: ChildProcess[] = [];
  afterEach(() => Promise.all(gateways.splice(0).map((child) => endOf(child, "SIGKILL"))));

  /** Both gateways are processes of their own, so that one can be killed. */
  async function gatewayOf(world: World): Promise<ChildProcess> {
    const [port = 0] = await freePorts(1);
    const secret = `${tempDir()}/secret`;
    writeFileSync(secret, `whsec_${KEY.toString("base64")}\n`, { mode: 0o600 });
    const env = {
      ...{ ...process.env, ANTIPHON_NATS_URL: world.nats.url, ANTIPHON_UNSAFE_TRUST: "1" },
      ...{ ANTIPHON_NOTIFY_URL: url, ANTIPHON_NOTIFY_SECRET: secret, ANTIPHON_LISTEN: `127.0.0.1:${port}` },
    };
    const child = spawn(process.execPath, [await builtProgram(SCRIPT)], { env, stdio: "ignore" });
    gateways.push(child);
    const isReady = async (): Promise<true | null> => {
      try {
        return (await fetch(`http://127.0.0.1:${port}/readyz`)).ok ? true : null;
      } catch {
        return null; // It does not listen yet.
      }
    };
    await eventually("a gateway listens", isReady);
    return child;
  }

  it(
    "gateway/G11: one tells each notice once, and when it is killed the other one tells what it did not",
    async () => {
      const world = await openWorld();
      worlds.push(world);
      const turn = openKv(world.bus, BUCKETS.notices);
      const first = await gatewayOf(world);
      await eventually("the first one has the turn", () => turn.get("told"));
      await gatewayOf(world);
      const runs: string[] = [];
      for (let i = 0; i < 3; i += 1) {
        const runId = await begin(world);
        runs.push(runId);
        await untilDecision(world, runId, "a.txt");
        await untilTold(i + 1);
      }
      answers = () => 503;
      const cut = await begin(world);
      await untilDecision(world, cut, "a.txt");
      await untilTold(4);
      await endOf(first, "SIGKILL");
      const before = told.length;
      answers = () => 204;
      await eventually("the other one tells it", () => (told.length > before ? true : null), 60_000);
      await world.journal.append(closedRecord(String(runs[0])));
      await untilTold(before + 2);
      const idsOf = (runId: unknown) =>
        told.filter(({ notice }) => notice.data.run === runId).map(({ id }) => id);
      expect(runs.map((runId) => idsOf(runId).length)).toEqual([2, 1, 1]);
      expect(new Set(idsOf(cut)).size, "with one id").toBe(1);
      expect(told.slice(before).map(({ notice }) => notice.data.run)).toEqual([cut, runs[0]]);
    },
    patient(120_000),
  );
});

describe("the settings", () => {
  const read = (address: string, text = `whsec_${KEY.toString("base64")}`) => {
    const secret = `${tempDir()}/secret`;
    writeFileSync(secret, text);
    return () => noticeSettings({ ANTIPHON_NOTIFY_URL: address, ANTIPHON_NOTIFY_SECRET: secret });
  };

  it.each([
    "http://example.com/",
    "ftp://example.com/",
    "https://user:pass@example.com/",
    "https://x/#a",
    "x",
  ])("refuse the address %s", (address) => {
    expect(read(address)).toThrow(expect.objectContaining({ code: "ANT_CONFIG_INVALID" }) as Error);
  });

  it("refuse a short secret without repeating it", () => {
    const refused = read("https://example.com/", "whsec_c2hvcnQ=");
    expect(refused).toThrow(expect.objectContaining({ code: "ANT_CONFIG_INVALID" }) as Error);
    expect(refused).not.toThrow("c2hvcnQ");
  });
});
