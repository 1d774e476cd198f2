/** Services beside a job, over real NATS and the real engine: what they share with the sandbox, and how they end. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { type SandboxOutcome, type SandboxRequest, type ServiceSpec } from "@antiphon/contracts";
import {
  createLogger,
  openBlobs,
  readRuntimeConfig,
  sandboxClient,
  startService,
  type Bus,
  type RunningService,
  type SandboxClient,
} from "@antiphon/runtime";
import type { SandboxConfig } from "../../../services/sandbox-runner/src/config.ts";
import { startSandboxRunner } from "../../../services/sandbox-runner/src/wiring.ts";
import { sandboxImage, testEngine, until } from "../../support/docker.ts";
import { makeMinimalImage, type MinimalImage } from "../../support/minimal-image.ts";
import { startNats, type NatsServer } from "../../support/nats.ts";

const test = testEngine("services");
const PORT = 7001;

let nats: NatsServer;
let service: RunningService;
let bus: Bus;
let client: SandboxClient;
let directory: string;
let store: MinimalImage;
let serial = 0;

/** Its image has a volume, and a program that it starts by itself. */
const STORE = `#!/bin/sh
echo x > /etc/passwd && exit 1
echo "kept by $(cat /workspace/secret 2>&1)" > /data/answer
exec sleep 600`;

/** Answers each connection with how many there were, so a test sees whether it is a fresh one. */
const COUNTER = `import os, socket
server = socket.create_server(("127.0.0.1", ${PORT}))
print("listening as", os.environ.get("NAME"), flush=True)
count = 0
while True:
    peer, _ = server.accept()
    count += 1
    seen = "files" if os.listdir("/workspace") else "none"
    peer.sendall(f"{count} {seen} {len([p for p in os.listdir('/proc') if p.isdigit()])}".encode())
    peer.close()`;

const counter = (more: Partial<ServiceSpec> = {}): ServiceSpec => ({
  name: "counter",
  command: `exec python3 -c '${COUNTER.replaceAll("'", `'\\''`)}'`,
  env: { NAME: "counter" },
  port: PORT,
  ...more,
});

const ASK = `python3 -c 'import socket; print(socket.create_connection(("127.0.0.1", ${PORT})).recv(99).decode())'`;

beforeAll(async () => {
  nats = await startNats();
  directory = mkdtempSync(join(tmpdir(), "antiphon-services-"));
  store = makeMinimalImage("store", ["VOLUME /data", 'CMD ["/bin/store"]'], { store: STORE });
  const allowed = { ref: store.ref, id: store.id, allowedAt: "2026-01-01T00:00:00.000Z" };
  const allowlistFile = join(directory, "images.json");
  writeFileSync(allowlistFile, JSON.stringify({ version: 1, images: [allowed] }));
  const config: SandboxConfig = {
    mode: "production",
    provider: "docker",
    e2b: { apiKey: null, domain: null, apiUrl: null, sandboxUrl: null },
    path: process.env["PATH"] ?? "",
    home: "/nowhere",
    instance: test.instance,
    image: sandboxImage(),
    allow: [],
    allowlistFile,
    slots: 4,
    warm: 1,
    runtime: "runc",
    treeDirectory: join(directory, "trees"),
    swapBytes: 0,
    treeBytes: 1e9,
    keyFile: join(directory, "runner-key.pem"),
    trustedRunnersFile: null,
  };
  service = await startService(
    { name: "sandbox-runner", start: (context) => startSandboxRunner(context, () => config) },
    { ...readRuntimeConfig({ ANTIPHON_UNSAFE_TRUST: "1" }), natsUrl: nats.url, drainMs: 5_000 },
    createLogger("test", { level: "silent" }),
  );
  bus = await nats.connect();
  client = sandboxClient(bus, { requester: "test" });
});

afterAll(async () => {
  await service.stop();
  rmSync(directory, { recursive: true, force: true });
  await nats.close();
  await test.expectNoContainers();
  store.remove();
});

/** Only warm containers may be left. */
afterEach(async () => {
  const busy = await until(
    async () => (await test.containers()).filter(({ name }) => !name.includes("warm")),
    (found) => found.length === 0,
    5_000,
  );
  expect(busy.map(({ name }) => name)).toEqual([]);
});

const step = (id: string, script: string) => ({
  ...{ id, argv: ["sh", "-c", script], env: {}, timeoutMs: 20_000, continueOnFailure: true },
});

function run(changes: Partial<SandboxRequest>, signal?: AbortSignal): Promise<SandboxOutcome> {
  const request: SandboxRequest = {
    jobId: `job_${process.pid}_${(serial += 1)}`,
    ...{ run: "run_aaaaaaaaaaaaaaaaaaaa", task: "T-001", epoch: 1, purpose: "verify", image: null },
    budgetMs: 60_000,
    workspace: {
      tree: null,
      files: [{ path: "secret", content: "s", encoding: "utf8", mode: "100644" }],
      overlay: null,
      deletions: [],
    },
    steps: [step("s", ASK)],
    collect: false,
    ...changes,
  };
  return client.run(request, { signal: signal ?? new AbortController().signal });
}

const tails = ({ steps }: SandboxOutcome): string[] => steps.map(({ stdout }) => stdout.tail.trim());

describe("a service beside a job", () => {
  it("sandbox-runner/S4: ends the job by name when it never becomes ready, and leaves no container", async () => {
    // Its own port: a service that shares the network answers on its behalf otherwise.
    const late = counter({ command: "echo still starting; exec sleep 60", port: PORT + 1, ready_s: 1 });
    const outcome = await run({ services: [late, { ...counter(), name: "other" }] });
    expect(outcome).toMatchObject({ outcome: "refused", code: "ANT_SERVICE_FAILED", steps: [] });
    expect(outcome.message).toMatch(/^service counter was not ready within 1 s/);
  });

  it("ends the job by name when it ends first, with the end of its output", async () => {
    const outcome = await run({ services: [counter({ command: "echo no such database >&2; exit 0" })] });
    expect(outcome).toMatchObject({ outcome: "refused", code: "ANT_SERVICE_FAILED" });
    expect(outcome.message).toBe("service counter ended before it was ready:\nno such database");
    expect(outcome.services).toMatchObject([{ name: "counter", readyMs: null }]);
  });

  it("is refused when its image is not allowed, or a directory would hide one of the sandbox", async () => {
    expect(await run({ services: [counter({ image: "antiphon-test-nowhere:1" })] })).toMatchObject({
      code: "ANT_SANDBOX_IMAGE_NOT_ALLOWED",
    });
    expect(await run({ services: [counter({ tmpfs: ["/proc/sys"] })] })).toMatchObject({
      code: "ANT_SANDBOX_REFUSED",
    });
  });

  it("sandbox-runner/S4: ends at once when its job is canceled while it starts", async () => {
    const stop = new AbortController();
    const waiting = run({ services: [counter({ command: "exec sleep 60" })] }, stop.signal);
    const both = await until(
      async () => (await test.containers()).filter(({ name }) => name.includes("T-001")),
      (found) => found.length === 2,
      20_000,
    );
    expect(both).toHaveLength(2);
    stop.abort();
    expect(await waiting).toMatchObject({ outcome: "canceled", steps: [] });
  });

  it("is reached at the loopback address from all steps, and sees neither files nor processes of the sandbox", async () => {
    const outcome = await run({ services: [counter()], steps: [step("a", ASK), step("b", ASK)] });
    expect(outcome).toMatchObject({ outcome: "completed", code: null });
    const seen = tails(outcome);
    expect(seen.map((line) => line.split(" ").slice(0, 2))).toEqual([
      ["1", "none"],
      ["2", "none"],
    ]);
    expect(Number(seen[0]?.split(" ")[2])).toBeLessThan(6); // its own: supervisor, shell, server
    const { log = null, readyMs = null } = outcome.services?.[0] ?? {};
    expect(readyMs).toBeGreaterThan(0);
    expect(String(await openBlobs(bus, log?.blob?.bucket ?? "").get(log?.blob?.name ?? ""))).toContain(
      "listening as counter",
    );
  });

  it("has no network, and neither has the sandbox beside it", async () => {
    const look = "cat /proc/net/dev | tail -n +3 | cut -d: -f1 | tr -d ' '; cat /proc/net/route | tail -n +2";
    // A job that is over ends its services, so this one is not ready before it has looked.
    const command = `${look}; touch /tmp/looked; exec sleep 60`;
    const watcher: ServiceSpec = { name: "watcher", command, ready: "test -e /tmp/looked" };
    const outcome = await run({ services: [watcher], steps: [step("a", look)] });
    expect(outcome).toMatchObject({ outcome: "completed", code: null });
    expect(tails(outcome)).toEqual(["lo"]);
    const words = outcome.services?.[0]?.log.tail.split("\n").filter((line) => line !== "") ?? [];
    expect(words.filter((line) => !line.startsWith("ready "))).toEqual(["lo"]);
  });

  it("is a fresh one for each job and each trial", async () => {
    const trials = { least: 3, most: 3, withinMs: 0 };
    const outcome = await run({ services: [counter()], steps: [step("a", `${ASK} | grep '^1 '`)], trials });
    expect(outcome).toMatchObject({ outcome: "completed", steps: [{ exitCode: 0 }] });
    expect(outcome.trials?.map(([first]) => first?.exitCode)).toEqual([0, 0]);
    expect(outcome.services?.map(({ name }) => name)).toEqual(["counter", "counter", "counter"]);
  });

  it("runs what its image starts, with the image's volumes in memory, in an image that no attempt can have", async () => {
    const own: ServiceSpec = { name: "store", image: store.ref, ready: "grep kept /data/answer" };
    const outcome = await run({ services: [own], steps: [step("a", "ls /data")] });
    expect([outcome.message, outcome.steps[0]?.exitCode]).toEqual(["every step ran", 2]);
    expect(outcome.services).toMatchObject([{ name: "store", image: store.id }]);
    expect(await run({ image: store.ref })).toMatchObject({ code: "ANT_SANDBOX_REFUSED" });
  });
});
