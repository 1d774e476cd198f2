import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type {
  SandboxEvent,
  SandboxOutcome,
  SandboxRequest,
  SandboxSignal,
} from "../../../contracts/src/index.ts";
import { limits, outcomeDigest, subjects } from "../../../contracts/src/index.ts";
import type { Bus } from "../../../runtime/src/index.ts";
import {
  createLogger,
  listen,
  openSigningKey,
  OutcomeTrust,
  pinnedTrust,
  sandboxClient,
  serveRpcStream,
  signOutcome,
} from "../../../runtime/src/index.ts";
import { signRecord } from "../../../runtime/src/process/signing-key.ts";
import type { NatsServer } from "../../support/nats.ts";
import { eventually, startNats } from "../../support/nats.ts";

let server: NatsServer;
let bus: Bus;
let runner: Bus;

beforeAll(async () => {
  server = await startNats();
  bus = await server.connect();
});

beforeEach(async () => {
  runner = await server.connect();
});

afterAll(async () => {
  await server.close();
});

const outcome = (kind: SandboxOutcome["outcome"]): SandboxOutcome => ({
  outcome: kind,
  code: null,
  message: "",
  steps: [],
  changes: null,
  meta: { bootMs: 1, provider: "docker", node: "sr_test", image: "img", containerId: "c1" },
});

let jobs = 0;
function request(): SandboxRequest {
  jobs += 1;
  return {
    jobId: `job-${jobs}`,
    run: "run_a",
    task: "T-001",
    epoch: 1,
    purpose: "attempt",
    image: null,
    budgetMs: 1000,
    workspace: { tree: null, files: [], overlay: null, deletions: [] },
    steps: [{ id: "one", argv: ["true"], env: {}, timeoutMs: 1000, continueOnFailure: false }],
    collect: false,
  };
}

type Serve = (request: SandboxRequest, emit: (event: SandboxEvent) => void) => Promise<void>;
const serve = (handler: Serve) =>
  serveRpcStream<SandboxRequest, SandboxEvent>(runner, subjects.sandboxRun, "sandbox-runner", handler);

describe("the sandbox client", () => {
  it("passes events on and returns the outcome", async () => {
    const stop = serve(async (_, emit) => {
      emit({ kind: "accepted", node: "sr_test", image: "img" });
      emit({ kind: "started", bootMs: 5, containerId: "c1" });
      emit({ kind: "step", id: "one", exitCode: 0 });
      emit({ kind: "done", result: outcome("completed") });
      await Promise.resolve();
    });
    const kinds: string[] = [];
    const result = await sandboxClient(bus, { requester: "as_test" }).run(request(), {
      signal: new AbortController().signal,
      onEvent: (event) => kinds.push(event.kind),
    });
    expect(result.outcome).toBe("completed");
    expect(kinds).toEqual(["accepted", "started", "step", "done"]);
    await stop();
  });

  describe("that trusts some runners", () => {
    const [ours, stranger] = [openSigningKey(null), openSigningKey(null)];
    const log = createLogger("test", { level: "silent" });
    const trusting = () => {
      const trust = new OutcomeTrust(pinnedTrust([ours.jwk], "outcome"), log);
      return { trust, client: sandboxClient(bus, { requester: "dr_test", trust }) };
    };
    const signed = (key: typeof ours, asked: SandboxRequest, result = outcome("completed")) => ({
      kind: "done" as const,
      result,
      signature: signOutcome(key, outcomeDigest(asked, result)),
    });
    const { signal } = new AbortController();

    it("refuses the answer of a stranger in the queue group, counts it, and asks again", async () => {
      const forgeries = [
        (asked: SandboxRequest) => ({
          kind: "done" as const,
          result: outcome("completed"),
          asked: asked.jobId,
        }),
        (asked: SandboxRequest) => signed(stranger, asked),
        (asked: SandboxRequest) => ({
          ...signed(ours, asked),
          result: { ...outcome("completed"), message: "other" },
        }),
        (asked: SandboxRequest) => ({
          ...signed(ours, asked),
          signature: signRecord(ours, outcomeDigest(asked, outcome("completed"))),
        }),
      ];
      let asks = 0;
      const stop = serve(async (asked, emit) => {
        emit(forgeries[asks]?.(asked) ?? signed(ours, asked, outcome("timeout")));
        asks += 1;
        await Promise.resolve();
      });
      const { trust, client } = trusting();
      expect((await client.run(request(), { signal })).outcome).toBe("timeout");
      expect([asks, trust.forged]).toEqual([5, 4]);
      await stop();
    });

    it("refuses the outcome of another job, and gives up after many forgeries with a code", async () => {
      const other = request();
      const replay = signed(ours, other);
      const stop = serve(async (_, emit) => {
        emit(replay);
        await Promise.resolve();
      });
      const { trust, client } = trusting();
      await expect(client.run(request(), { signal })).rejects.toMatchObject({ code: "ANT_SANDBOX_FORGED" });
      expect(trust.forged).toBe(limits.sandboxForgeries);
      expect((await client.run(other, { signal })).outcome).toBe("completed");
      await stop();
    });
  });

  it("asks again while every runner is busy, and gives up with ANT_SANDBOX_BUSY", async () => {
    let asked = 0;
    const stop = serve(async (_, emit) => {
      asked += 1;
      emit(asked < 3 ? { kind: "busy", retryAfterMs: 20 } : { kind: "done", result: outcome("completed") });
      await Promise.resolve();
    });
    const client = sandboxClient(bus, { requester: "as_test" });
    const { signal } = new AbortController();
    expect((await client.run(request(), { signal })).outcome).toBe("completed");
    expect(asked).toBe(3);
    asked = -1_000_000;
    await expect(client.run(request(), { signal, patienceMs: 200 })).rejects.toMatchObject({
      code: "ANT_SANDBOX_BUSY",
    });
    await stop();
  });

  it("waits for a runner that is starting; without one it is ANT_SANDBOX_RUNNER_LOST", async () => {
    const client = sandboxClient(bus, { requester: "as_test" });
    const { signal } = new AbortController();
    const early = client.run(request(), { signal });
    const stop = serve(async (_, emit) => {
      emit({ kind: "done", result: outcome("completed") });
      await Promise.resolve();
    });
    expect((await early).outcome).toBe("completed");
    await stop();
    await expect(client.run(request(), { signal, patienceMs: 300 })).rejects.toMatchObject({
      code: "ANT_SANDBOX_RUNNER_LOST",
    });
  });

  it("sends `alive` while the job runs, and gives a silent runner up as lost", async () => {
    const signals: SandboxSignal["kind"][] = [];
    const heard = listen<SandboxSignal>(runner, "antiphon.v1.rpc.sandbox.job.*", (value) =>
      signals.push(value.kind),
    );
    const stop = serve(async (_, emit) => {
      emit({ kind: "accepted", node: "sr_test", image: "img" });
      await Promise.resolve();
    });
    const run = sandboxClient(bus, { requester: "as_test" }).run(request(), {
      signal: new AbortController().signal,
    });
    await expect(run).rejects.toMatchObject({ code: "ANT_SANDBOX_RUNNER_LOST" });
    expect(signals.length).toBeGreaterThanOrEqual(3);
    expect(new Set(signals)).toEqual(new Set(["alive"]));
    heard();
    await stop();
  });

  it("cancels the job on the runner when its signal aborts", async () => {
    const running = new Map<string, (event: SandboxEvent) => void>();
    const heard = listen<SandboxSignal>(runner, "antiphon.v1.rpc.sandbox.job.*", (value, subject) => {
      const emit = running.get(subject.split(".").at(-1) ?? "");
      if (value.kind === "cancel") emit?.({ kind: "done", result: outcome("canceled") });
    });
    const stop = serve(async (job, emit) => {
      running.set(job.jobId, emit);
      emit({ kind: "accepted", node: "sr_test", image: "img" });
      await Promise.resolve();
    });
    const abort = new AbortController();
    const run = sandboxClient(bus, { requester: "as_test" }).run(request(), { signal: abort.signal });
    await eventually("the job runs", () => running.size === 1);
    abort.abort();
    expect((await run).outcome).toBe("canceled");
    heard();
    await stop();
  });

  it("asks a job to stop and to collect what is left, and cancels it when that takes too long", async () => {
    const signals: SandboxSignal[] = [];
    const running = new Map<string, (event: SandboxEvent) => void>();
    const heard = listen<SandboxSignal>(runner, "antiphon.v1.rpc.sandbox.job.*", (value, subject) => {
      signals.push(value);
      const emit = running.get(subject.split(".").at(-1) ?? "");
      if (value.kind === "cancel" && value.collect !== true)
        emit?.({ kind: "done", result: outcome("canceled") });
    });
    const serving = serve(async (job, emit) => {
      running.set(job.jobId, emit);
      emit({ kind: "accepted", node: "sr_test", image: "img" });
      await Promise.resolve();
    });
    const stop = new AbortController();
    const { signal } = new AbortController();
    const client = sandboxClient(bus, { requester: "as_test" });
    const run = client.run(request(), { signal, stop: stop.signal });
    await eventually("the job runs", () => running.size === 1);
    const stoppedAt = performance.now();
    stop.abort();
    expect((await run).outcome).toBe("canceled");
    expect(performance.now() - stoppedAt).toBeGreaterThanOrEqual(limits.cancelCollectMs - 50);
    const words = signals.filter(({ kind }) => kind === "cancel").map((one) => "collect" in one);
    expect([words[0], words.at(-1)]).toEqual([true, false]);
    await expect(client.run(request(), { signal, stop: stop.signal })).rejects.toMatchObject({
      code: "ANT_SANDBOX_CANCELED",
    });
    heard();
    await serving();
  });
});
