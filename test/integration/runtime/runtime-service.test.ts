import type { ChildProcess } from "node:child_process";
import { spawn } from "node:child_process";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import type { Bus, Journal } from "../../../runtime/src/index.ts";
import { openJournal, provision } from "../../../runtime/src/index.ts";
import { dispatchRecord } from "../../../contracts/src/testing/records.ts";
import type { NatsServer } from "../../support/nats.ts";
import { eventually, startNats } from "../../support/nats.ts";
import { builtProgram } from "../../support/built-program.ts";

let server: NatsServer;
let bus: Bus;
let journal: Journal;
const running: ChildProcess[] = [];

beforeAll(async () => {
  server = await startNats();
  bus = await server.connect();
  await provision(bus);
  journal = openJournal(bus);
});

afterEach(async () => {
  for (const child of running.splice(0)) {
    if (child.exitCode === null && child.signalCode === null) {
      child.kill("SIGKILL");
      await new Promise((resolve) => child.once("exit", resolve));
    }
  }
});

afterAll(async () => {
  await server.close();
});

interface Sleeper {
  child: ChildProcess;
  said(): string;
  exit: Promise<number | null>;
}

const SCRIPT = await builtProgram(new URL("./runtime-service-process.ts", import.meta.url));

function sleeper(workMs: number, fault = "", env: Record<string, string> = {}): Sleeper {
  const child = spawn(process.execPath, [SCRIPT, String(workMs), fault], {
    env: { ...process.env, ANTIPHON_NATS_URL: server.url, ANTIPHON_UNSAFE_TRUST: "1", ...env },
    stdio: ["ignore", "ignore", "pipe"],
  });
  running.push(child);
  let said = "";
  child.stderr.on("data", (data: Buffer) => (said += data.toString()));
  const exit = new Promise<number | null>((resolve) => child.once("exit", (code) => resolve(code)));
  return { child, said: () => said, exit };
}

const lastLine = (text: string): Record<string, unknown> =>
  JSON.parse(text.trim().split("\n").at(-1) ?? "{}") as Record<string, unknown>;

describe("a service process", () => {
  it("runtime/J13: gets ready, answers $SRV requests, and on SIGTERM finishes held work without redelivery", async () => {
    const service = sleeper(700);
    await eventually("ready", () => service.said().includes('"ready":true'));
    const answer = await bus.nc.request("$SRV.PING.sleeper", "", { timeout: 2000 });
    expect(answer.json()).toMatchObject({
      type: "io.nats.micro.v1.ping_response",
      name: "sleeper",
      version: "1.2.3",
    });
    const stats = await bus.nc.request("$SRV.STATS.sleeper", "", { timeout: 2000 });
    expect(stats.json()).toMatchObject({ type: "io.nats.micro.v1.stats_response", endpoints: [] });

    await journal.append(dispatchRecord("run_term", "T-1", 1));
    await eventually("it works", async () => (await journal.find("claim", "run_term", "T-1", 1)) !== null);
    service.child.kill("SIGTERM");
    expect(await service.exit).toBe(0);
    expect(await journal.find("claim", "run_term", "T-1-finished", 1)).not.toBeNull();
    const info = await bus.jsm.consumers.info("ANT_JOURNAL_0", "associate");
    expect(info).toMatchObject({ num_ack_pending: 0, num_redelivered: 0 });
  });

  it("limits its drain: unfinished work is handed back, not lost", async () => {
    const service = sleeper(60_000, "", { ANTIPHON_DRAIN_MS: "300" });
    await eventually("ready", () => service.said().includes('"ready":true'));
    await journal.append(dispatchRecord("run_bound", "T-1", 1));
    await eventually("it works", async () => (await journal.find("claim", "run_bound", "T-1", 1)) !== null);
    const next = sleeper(0);
    await eventually("the next one is ready", () => next.said().includes('"ready":true'));
    service.child.kill("SIGTERM");
    expect(await service.exit).toBe(0);
    await eventually(
      "another process finishes it",
      async () => (await journal.find("claim", "run_bound", "T-1-finished", 1)) !== null,
      5000, // less than the ack wait: it was handed back and did not time out
    );
    next.child.kill("SIGTERM");
    await next.exit;
  });

  it("if one part fails to drain, finishes the work of the others and ends with that failure", async () => {
    const service = sleeper(700, "drain");
    await eventually("ready", () => service.said().includes('"ready":true'));
    await journal.append(dispatchRecord("run_stuck", "T-1", 1));
    await eventually("it works", async () => (await journal.find("claim", "run_stuck", "T-1", 1)) !== null);
    service.child.kill("SIGTERM");
    expect(await service.exit).toBe(4);
    expect(await journal.find("claim", "run_stuck", "T-1-finished", 1)).not.toBeNull();
    const told = service.said().trim().split("\n").map(lastLine);
    const stuck = { code: "ANT_DOCKER_UNREACHABLE", message: "a container stays" };
    expect(told.filter(({ level }) => level === "error")).toMatchObject([{ code: stuck.code }]);
    expect(told.at(-1)).toMatchObject({ ...stuck, level: "fatal", remedy: expect.any(String) as string });
  });

  it("if one part fails to drain, still comes to the hard stop and hands unfinished work back", async () => {
    const service = sleeper(60_000, "drain", { ANTIPHON_DRAIN_MS: "300" });
    await eventually("ready", () => service.said().includes('"ready":true'));
    await journal.append(dispatchRecord("run_hard", "T-1", 1));
    const isThere = async (task: string) => (await journal.find("claim", "run_hard", task, 1)) !== null;
    await eventually("it works", () => isThere("T-1"));
    const next = sleeper(0);
    await eventually("the next one is ready", () => next.said().includes('"ready":true'));
    service.child.kill("SIGTERM");
    expect(await service.exit).toBe(4);
    await eventually("another process finishes it", () => isThere("T-1-finished"), 5000); // no ack wait ran out
    next.child.kill("SIGTERM");
    await next.exit;
  });

  it("a second signal ends it at once", async () => {
    const service = sleeper(60_000);
    await eventually("ready", () => service.said().includes('"ready":true'));
    await journal.append(dispatchRecord("run_second", "T-1", 1));
    await eventually("it works", async () => (await journal.find("claim", "run_second", "T-1", 1)) !== null);
    service.child.kill("SIGINT");
    await eventually("draining", () => service.said().includes('"draining"'));
    service.child.kill("SIGINT");
    expect(await service.exit).toBe(130);
  });

  it("runtime/J13: survives kill -9 of the server", async () => {
    const service = sleeper(0);
    await eventually("ready", () => service.said().includes('"ready":true'));
    await server.kill();
    await server.restart();
    await journal.append(dispatchRecord("run_outage", "T-1", 1));
    await eventually(
      "handled",
      async () => (await journal.find("claim", "run_outage", "T-1-finished", 1)) !== null,
    );
    service.child.kill("SIGTERM");
    expect(await service.exit).toBe(0);
  });

  it("runtime/J13: without a server writes one coded line with a remedy and exits with code 4", async () => {
    const service = sleeper(0, "", { ANTIPHON_NATS_URL: "nats://127.0.0.1:1" });
    expect(await service.exit).toBe(4);
    expect(lastLine(service.said())).toMatchObject({
      code: "ANT_NATS_UNREACHABLE",
      service: "sleeper",
      remedy: expect.any(String) as string,
    });
  });

  it("names a bad setting and exits with code 2", async () => {
    const service = sleeper(0, "", { ANTIPHON_LOG_LEVEL: "loud" });
    expect(await service.exit).toBe(2);
    expect(lastLine(service.said())).toMatchObject({
      code: "ANT_CONFIG_INVALID",
      data: { variable: "ANTIPHON_LOG_LEVEL" },
    });
  });

  it("writes one coded line and exits with code 1 if its start throws or a rejection is not caught", async () => {
    const early = sleeper(0, "start");
    expect(await early.exit).toBe(1);
    expect(lastLine(early.said())).toMatchObject({ code: "ANT_INTERNAL", message: "cannot start" });
    const later = sleeper(500, "throw-later");
    await eventually("ready", () => later.said().includes('"ready":true'));
    await journal.append(dispatchRecord("run_uncaught", "T-1", 1));
    expect(await later.exit).toBe(1);
    expect(lastLine(later.said())).toMatchObject({ code: "ANT_INTERNAL", message: "nobody catches this" });
  });
});
