/** Sessions over real NATS and the real engine. */
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { createInbox } from "@nats-io/nats-core";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { BUCKETS, decode, encode, limits, subjects, type SandboxSessionEvent } from "@antiphon/contracts";
import {
  createLogger,
  openBlobs,
  readRuntimeConfig,
  sandboxSessions,
  startService,
  type Bus,
  type RunningService,
  type SandboxSession,
  type SandboxSessionRequest,
} from "@antiphon/runtime";
import { readSandboxConfig } from "../../../services/sandbox-runner/src/config.ts";
import { canonicalTar } from "../../../services/sandbox-runner/src/workspace/tar-writer.ts";
import { startSandboxRunner } from "../../../services/sandbox-runner/src/wiring.ts";
import { sandboxImage, testEngine, until } from "../../support/docker.ts";
import { startNats, type NatsServer } from "../../support/nats.ts";

const test = testEngine("sessions");
const MiB = 1024 * 1024;
const SLOTS = 3;
const TREE = "tree-00000000sessions.tar";

let nats: NatsServer;
let service: RunningService;
let bus: Bus;
let directory: string;
const opened: SandboxSession[] = [];
const children: ChildProcess[] = [];

beforeAll(async () => {
  nats = await startNats();
  directory = mkdtempSync(join(tmpdir(), "antiphon-trees-"));
  const config = readSandboxConfig({
    ANTIPHON_INSTANCE: test.instance,
    ANTIPHON_SANDBOX_IMAGE: sandboxImage(),
    ANTIPHON_SANDBOX_SLOTS: String(SLOTS),
    ANTIPHON_SANDBOX_WARM: "1",
    ANTIPHON_STATE_DIR: directory,
  });
  service = await startService(
    { name: "sandbox-runner", start: (context) => startSandboxRunner(context, () => config) },
    { ...readRuntimeConfig({ ANTIPHON_UNSAFE_TRUST: "1" }), natsUrl: nats.url, drainMs: 5_000 },
    createLogger("test", { level: "silent" }),
  );
  bus = await nats.connect();
  const file = (path: string, content: string) =>
    ({ path, mode: "100644", content: Buffer.from(content) }) as const;
  await openBlobs(bus, BUCKETS.repos).put(TREE, canonicalTar([file("a.txt", "a\n"), file("b.txt", "b\n")]));
});

afterAll(async () => {
  await service.stop();
  rmSync(directory, { recursive: true, force: true });
  await nats.close();
  await test.expectNoContainers();
});

/** After each test only warm containers may be left. */
afterEach(async () => {
  for (const session of opened.splice(0)) await session.close();
  for (const child of children.splice(0)) {
    if (child.exitCode !== null || child.signalCode !== null) continue;
    child.kill("SIGKILL");
    await once(child, "exit");
  }
  const busy = await until(held, (found) => found.length === 0, 5_000);
  expect(busy.map(({ name }) => name)).toEqual([]);
});

const held = async () => (await test.containers()).filter(({ name }) => !name.includes("-warm-"));

function request(changes: Partial<SandboxSessionRequest> = {}): SandboxSessionRequest {
  return {
    run: "run_sessions",
    task: "T-001",
    epoch: 1,
    image: null,
    budgetMs: 120_000,
    workspace: { tree: null, files: [], overlay: null, deletions: [] },
    ...changes,
  };
}

async function open(changes: Partial<SandboxSessionRequest> = {}): Promise<SandboxSession> {
  const session = await sandboxSessions(bus).open(request(changes), { patienceMs: 10_000 });
  opened.push(session);
  return session;
}

const sh = (script: string) => ({ argv: ["sh", "-c", script] });

describe("a session", () => {
  it("keeps its workspace from command to command, and reports the changes since it was opened", async () => {
    const session = await open({ workspace: { tree: TREE, files: [], overlay: null, deletions: [] } });
    expect(session).toMatchObject({ provider: "docker", bootMs: expect.any(Number) as number });
    await session.exec(sh("mkdir -p deep && echo one > deep/made && rm a.txt"));
    await session.write([
      { path: "tool", content: "#!/bin/sh\necho ran $1\n", executable: true },
      { path: "raw", content: Uint8Array.from([0, 255, 10]) },
    ]);
    const exit = await session.exec({ argv: ["../tool", "twice"], cwd: "deep", env: { A: "b" } });
    expect(exit).toMatchObject({ exitCode: 0, timedOut: false, code: null, stdout: { tail: "ran twice\n" } });
    const changes = await session.collect();
    expect(changes.files.map(({ path, mode, bytes }) => [path, mode, bytes])).toEqual([
      ["deep/made", "100644", 4],
      ["raw", "100644", 3],
      ["tool", "100755", 22],
    ]);
    expect(changes.deletions).toEqual(["a.txt"]);
    await session.write([], ["deep"]);
    expect((await session.collect()).files.map(({ path }) => path)).toEqual(["raw", "tool"]);
  });

  it("is one session in one container when it is requested several times at once", async () => {
    const sessionId = `ss_${process.pid}_at_once`;
    const answers: SandboxSessionEvent[] = [];
    const inbox = createInbox();
    const heard = bus.nc.subscribe(inbox, {
      callback: (_error, { data }) => void answers.push(decode(data) as SandboxSessionEvent),
    });
    for (let i = 0; i < 3; i += 1)
      bus.nc.publish(subjects.sandboxSessionOpen, encode({ ...request(), sessionId }), { reply: inbox });
    const all = await until(
      async () => answers.filter(({ kind }) => kind !== "beat"),
      (found) => found.length === 3,
      20_000,
    );
    const containers = all.map((answer) => (answer.kind === "opened" ? answer.containerId : answer));
    const there = await until(held, (found) => found.length === 1, 5_000); // It is renamed about when it is reported.
    expect(new Set(containers)).toEqual(new Set(there.map(({ id }) => id)));
    expect(new Set(containers).size).toBe(1);
    heard.unsubscribe();
    const { node } = all.find(({ kind }) => kind === "opened") as { node: string };
    await bus.nc.request(subjects.sandboxSession("close", node), encode({ sessionId }), { timeout: 10_000 });
  });

  it("gives the command its directory, environment, input, exit code and signal", async () => {
    const session = await open();
    const parts: string[] = [];
    const exit = await session.exec({
      ...sh('pwd; echo "$WHO"; cat; echo oops >&2; exit 7'),
      env: { WHO: "me" },
      stdin: "in\n",
      onOutput: (stream, piece) => void parts.push(`${stream}:${String(piece)}`),
    });
    expect(exit).toMatchObject({ exitCode: 7, signal: 0, stderr: { tail: "oops\n", bytes: 5 } });
    expect(parts.filter((part) => part.startsWith("stdout")).join("")).toContain("in\n");
    expect(await session.exec(sh("kill -TERM $$"))).toMatchObject({ exitCode: 143, signal: 15 });
  });

  it("keeps output in the object store when asked to", async () => {
    const session = await open();
    const { stdout } = await session.exec({ ...sh("echo kept"), keep: true });
    expect(String(await openBlobs(bus, stdout.blob?.bucket ?? "").get(stdout.blob?.name ?? ""))).toBe(
      "kept\n",
    );
    expect((await session.exec(sh("echo not"))).stdout).toMatchObject({ blob: null, tail: "not\n" });
  });

  it("carries files of any allowed size in, byte by byte", async () => {
    const session = await open();
    const content = Buffer.alloc(
      3 * MiB,
      Uint8Array.from({ length: 256 }, (_, i) => i),
    );
    await session.write([{ path: "big", content }]);
    expect((await session.exec(sh("wc -c < big; tail -c 1 big | od -An -tu1"))).stdout.tail).toBe(
      `${3 * MiB}\n 255\n`,
    );
  });

  it("runs commands one after the other in the order they came", async () => {
    const session = await open();
    const all = ["1", "2", "3"].map((n) => session.exec(sh(`sleep 0.05; echo ${n} >> order; cat order`)));
    expect((await Promise.all(all)).map(({ stdout }) => stdout.tail)).toEqual(["1\n", "1\n2\n", "1\n2\n3\n"]);
  });

  it("streams more output than any buffer holds, whole and in order, to a slow listener", async () => {
    const session = await open();
    let received = 0;
    let isWhole = true;
    const exit = await session.exec({
      ...sh("seq -w 1 1000000"),
      onOutput: async (_stream, piece) => {
        for (let at = 0; at + 8 <= piece.length && received % 8 === 0; at += 80_000)
          isWhole &&= Number(piece.toString("latin1", at, at + 7)) === (received + at) / 8 + 1;
        received += piece.length;
        if (received % (2 * MiB) < piece.length) await new Promise((resolve) => setTimeout(resolve, 20));
      },
    });
    expect(exit).toMatchObject({ exitCode: 0, stdout: { bytes: 8_000_000 } });
    expect([received, isWhole]).toEqual([8_000_000, true]);
  });

  it("makes the command wait while its output is not taken", async () => {
    const session = await open();
    let sent = 0;
    let beats = 0;
    const last: SandboxSessionEvent[] = [];
    const subscription = bus.nc.subscribe("test.slow", {
      callback: (_error, message) => {
        const event = decode(message.data) as SandboxSessionEvent;
        if (event.kind === "output") sent += Buffer.from(event.data, "base64").length;
        else if (event.kind === "beat") beats += 1;
        else last.push(event);
      },
    });
    const exec = { sessionId: session.id, execId: "x", env: {}, hasInput: false, timeoutMs: 30_000 };
    const argv = ["head", "-c", "20000000", "/dev/zero"];
    bus.nc.publish(
      subjects.sandboxSession("exec", session.node),
      encode({ ...exec, argv, stream: true, keep: false }),
      { reply: "test.slow" },
    );
    await until(
      () => Promise.resolve(beats),
      (n) => n >= 2,
      10_000,
    );
    expect([sent >= limits.sessionWindowBytes, sent < 2 * limits.sessionWindowBytes]).toEqual([true, true]);
    const taken = { kind: "alive", sessionId: session.id, execId: "x", taken: 2 ** 40 };
    const signal = () => bus.nc.publish(subjects.sandboxSession("signal", session.node), encode(taken));
    await until(
      async () => {
        signal();
        return Promise.resolve(last.length);
      },
      (n) => n === 1,
      10_000,
    );
    subscription.unsubscribe();
    expect([last[0]?.kind, sent]).toEqual(["exit", 20_000_000]);
  });

  it("feeds input as fast as it is read, and ends it when the command does", async () => {
    const session = await open();
    const pieces = function* (): Generator<Buffer> {
      for (let i = 0; i < 80; i += 1) yield Buffer.alloc(100_000, i);
    };
    expect((await session.exec({ ...sh("sha256sum; sleep 0.1"), stdin: pieces() })).stdout.tail).toMatch(
      /^[0-9a-f]{64} {2}-\n$/,
    );
    let given = 0;
    const endless = async function* (): AsyncGenerator<Buffer> {
      for (;;) {
        given += 1;
        yield Buffer.alloc(64 * 1024);
        await new Promise((resolve) => setImmediate(resolve));
      }
    };
    const exit = await session.exec({ ...sh("head -c 200000 | wc -c"), stdin: endless() });
    expect(exit.stdout.tail.trim()).toBe("200000");
    expect(given).toBeLessThan(200);
    expect((await session.exec(sh("echo still here"))).stdout.tail).toBe("still here\n");
  });

  it("loses only the command at its time limit or a kill", async () => {
    const session = await open();
    const late = await session.exec({
      ...sh("echo begun > mark; echo begun; trap '' TERM; sleep 60 & sleep 60"),
      timeoutMs: 2_000,
    });
    expect(late).toMatchObject({
      timedOut: true,
      signal: 9,
      code: "ANT_SANDBOX_TIMEOUT",
      stdout: { tail: "begun\n" },
    });
    const stop = new AbortController();
    const killed = session.exec({
      ...sh("yes"),
      signal: stop.signal,
      onOutput: () => stop.abort(),
    });
    expect(await killed).toMatchObject({ timedOut: false, signal: 9, exitCode: 137 });
    expect((await session.exec(sh("cat mark; ls /proc | grep -c '^[0-9]'"))).stdout.tail).toMatch(
      /^begun\n[3-5]\n$/,
    );
  });

  it("survives a collection that is refused", async () => {
    const session = await open();
    await session.exec(sh("ln -s /etc/passwd link; echo x > file"));
    await expect(session.collect()).rejects.toMatchObject({ code: "ANT_SANDBOX_OUTPUT" });
    await session.exec(sh("rm link"));
    expect((await session.collect()).files.map(({ path }) => path)).toEqual(["file"]);
  });

  it("ends with the reason when its memory runs out", async () => {
    const session = await open({ limits: { memoryBytes: 64 * MiB } });
    const crowd = "import os\nx = bytearray(200 << 20)";
    expect((await session.exec({ argv: ["python3", "-c", crowd] })).code).toBe("ANT_SANDBOX_OOM");
  });
});

describe("a session request", () => {
  it("is refused with a code when it is invalid", async () => {
    const session = await open();
    await expect(session.exec({ ...sh("true"), cwd: "../.." })).rejects.toMatchObject({
      code: "ANT_SANDBOX_PATH",
    });
    await expect(session.exec({ ...sh("true"), env: { "A B": "" } })).rejects.toMatchObject({
      code: "ANT_SANDBOX_REFUSED",
    });
    await expect(session.write([{ path: "../x", content: "" }])).rejects.toMatchObject({
      code: "ANT_SANDBOX_REFUSED",
    });
    await expect(open({ image: "debian:latest" })).rejects.toMatchObject({
      code: "ANT_SANDBOX_IMAGE_NOT_ALLOWED",
    });
    await expect(open({ limits: { pids: 2 ** 30 } })).rejects.toMatchObject({ code: "ANT_SANDBOX_REFUSED" });
    await session.close();
    await expect(session.exec(sh("true"))).rejects.toMatchObject({ code: "ANT_SANDBOX_SESSION_OVER" });
    const answer = await bus.nc.request(
      subjects.sandboxSession("exec", session.node),
      encode({ hello: "world" }),
      { timeout: 5_000 },
    );
    expect(decode(answer.data)).toMatchObject({ ok: false, code: "ANT_SANDBOX_REFUSED" });
  });

  it("is answered with busy while every slot is taken, and accepted when one is free again", async () => {
    const sessions = await Promise.all(Array.from({ length: SLOTS }, () => open()));
    await expect(sandboxSessions(bus).open(request(), { patienceMs: 300 })).rejects.toMatchObject({
      code: "ANT_SANDBOX_BUSY",
    });
    await sessions[0]?.close();
    await open();
  });

  it("of a newer epoch ends the older session of its task, and one of an older epoch is refused", async () => {
    const old = await open({ epoch: 4 });
    const running = old.exec(sh("sleep 60"));
    const other = await open({ epoch: 1, task: "T-002" });
    await open({ epoch: 5 });
    await expect(running).rejects.toMatchObject({ code: "ANT_SANDBOX_CANCELED" });
    await expect(open({ epoch: 3 })).rejects.toMatchObject({ code: "ANT_SANDBOX_REFUSED" });
    expect((await other.exec(sh("echo fine"))).stdout.tail).toBe("fine\n");
  });
});

describe("a lease", () => {
  function launch(program: string, env: Record<string, string>): ChildProcess {
    const path = fileURLToPath(new URL(`../../support/${program}`, import.meta.url));
    const child = spawn(process.execPath, ["--import", "tsx", path], {
      env: { ...process.env, ANTIPHON_NATS_URL: nats.url, ANTIPHON_UNSAFE_TRUST: "1", ...env },
      stdio: ["ignore", "pipe", "inherit"],
    });
    children.push(child);
    return child;
  }

  it("sandbox-runner/S6: ends with the process that held it, and its container is gone", async () => {
    const holder = launch("session-holder.ts", {});
    const [said] = (await once(holder.stdout!, "data")) as [Buffer];
    const id = String(said).trim();
    expect((await until(held, (found) => found.length > 0, 5_000)).map((one) => one.id)).toEqual([id]);
    holder.kill("SIGKILL");
    const killedAt = performance.now();
    expect(await until(held, (found) => found.length === 0, 20_000)).toEqual([]);
    expect(performance.now() - killedAt).toBeLessThan(limits.sandboxSilenceMs + 8_000);
  });

  it("ends when no holder ever sends a sign of life", async () => {
    const events: SandboxSessionEvent[] = [];
    const subscription = bus.nc.subscribe("test.mute", {
      callback: (_error, message) => void events.push(decode(message.data) as SandboxSessionEvent),
    });
    bus.nc.publish(subjects.sandboxSessionOpen, encode({ ...request(), sessionId: "mute" }), {
      reply: "test.mute",
    });
    await until(held, (found) => found.length === 1, 5_000);
    expect(await until(held, (found) => found.length === 0, limits.sandboxSilenceMs + 8_000)).toEqual([]);
    subscription.unsubscribe();
    expect(events.find(({ kind }) => kind !== "beat")?.kind).toBe("opened");
  });

  it("ends with its runner: no container is left, and the holder gets an error", async () => {
    const instance = `${test.instance}-p`;
    const theirs = () => test.engine.list(instance);
    // Makes the other runner the only free one: the one in this process has no slot left.
    await Promise.all(Array.from({ length: SLOTS }, () => open()));
    const runner = launch("runner-process.ts", {
      ANTIPHON_INSTANCE: instance,
      ANTIPHON_STATE_DIR: directory,
      ANTIPHON_SANDBOX_IMAGE: sandboxImage(),
      ANTIPHON_SANDBOX_WARM: "1",
    });
    const session = await sandboxSessions(bus).open(request(), { patienceMs: 30_000 });
    const running = session.exec(sh("sleep 60"));
    running.catch(() => undefined);
    expect((await theirs()).map(({ id }) => id)).toContain(session.containerId);
    runner.kill("SIGKILL");
    await once(runner, "exit");
    expect(await until(theirs, (found) => found.length === 0, 10_000)).toEqual([]);
    await expect(running).rejects.toMatchObject({ code: "ANT_SANDBOX_RUNNER_LOST" });
    await expect(session.exec(sh("true"))).rejects.toMatchObject({ code: "ANT_SANDBOX_RUNNER_LOST" });
    await Promise.all([session.close(), session.close()]);
  });
});
