/** A sandbox-runner that stops while the engine refuses to remove a warm container. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { AntiphonError, type SandboxRequest } from "@antiphon/contracts";
import { createLogger, readRuntimeConfig, sandboxClient, startService } from "@antiphon/runtime";
import { startSandboxRunner } from "../../../services/sandbox-runner/src/wiring.ts";
import { sandboxImage, testEngine } from "../../support/docker.ts";
import { startNats, type NatsServer } from "../../support/nats.ts";

const test = testEngine("stop");
let nats: NatsServer;
let directory: string;

beforeAll(async () => {
  nats = await startNats();
  directory = mkdtempSync(join(tmpdir(), "antiphon-trees-"));
});

afterAll(async () => {
  rmSync(directory, { recursive: true, force: true });
  await nats.close();
  await test.expectNoContainers();
});

const request: SandboxRequest = {
  jobId: "job-stop",
  run: "run_stop",
  task: "T-001",
  epoch: 1,
  purpose: "attempt",
  image: null,
  budgetMs: 30_000,
  workspace: { tree: null, files: [], overlay: null, deletions: [] },
  steps: [
    {
      id: "s",
      argv: ["sh", "-c", "sleep 3; echo whole"],
      env: {},
      timeoutMs: 20_000,
      continueOnFailure: false,
    },
  ],
  collect: false,
};

it("a runner that stops finishes its jobs, closes everything, and then reports the failed removal", async () => {
  const config = {
    mode: "production",
    provider: "docker",
    e2b: { apiKey: null, domain: null, apiUrl: null, sandboxUrl: null },
    path: process.env["PATH"] ?? "",
    home: "/nowhere",
    instance: test.instance,
    image: sandboxImage(),
    allow: [],
    allowlistFile: join(directory, "images.json"),
    slots: 2,
    warm: 1,
    runtime: "runc",
    treeDirectory: directory,
    swapBytes: 0,
    treeBytes: 1e9,
    keyFile: join(directory, "runner-key.pem"),
    trustedRunnersFile: null,
  } as const;
  const service = await startService(
    {
      name: "sandbox-runner",
      start: async (context) => {
        const runner = await startSandboxRunner(context, () => config);
        const close = runner.pool.close.bind(runner.pool);
        // Simulates the engine's refusal, without leaving a container behind.
        runner.pool.close = async () => {
          await close();
          throw new AntiphonError("ANT_DOCKER_UNREACHABLE", "a warm container stays");
        };
        return runner;
      },
    },
    { ...readRuntimeConfig({ ANTIPHON_UNSAFE_TRUST: "1" }), natsUrl: nats.url, drainMs: 20_000 },
    createLogger("test", { level: "silent" }),
  );
  const client = sandboxClient(await nats.connect(), { requester: "test" });
  let isDone = false;
  let begin = (): void => undefined;
  const begun = new Promise<void>((resolve) => (begin = resolve));
  const job = client
    .run(request, {
      signal: new AbortController().signal,
      onEvent: ({ kind }) => {
        if (kind === "started") begin();
      },
    })
    .finally(() => (isDone = true));
  await begun;
  await expect(service.stop()).rejects.toMatchObject({ code: "ANT_DOCKER_UNREACHABLE" });
  expect([isDone, service.bus.nc.isClosed()]).toEqual([true, true]);
  expect(await job).toMatchObject({ outcome: "completed", steps: [{ stdout: { tail: "whole\n" } }] });
  expect(await test.engine.list(test.instance)).toEqual([]);
});
