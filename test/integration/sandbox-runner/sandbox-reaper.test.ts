/** The reaper on the real engine: which containers it removes, and how one that stays affects the others. */
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { afterEach, describe, expect, it, vi } from "vitest";
import type { Engine } from "../../../services/sandbox-runner/src/providers/docker/docker-engine.ts";
import { DockerProvider } from "../../../services/sandbox-runner/src/providers/docker/docker-provider.ts";
import { ownLabel } from "@antiphon/runtime";
import { containerName } from "../../../services/sandbox-runner/src/reaper/container-labels.ts";
import type { AttemptName } from "../../../services/sandbox-runner/src/reaper/stale-epoch.ts";
import type { ReapReason } from "../../../services/sandbox-runner/src/reaper/reap-plan.ts";
import { REAP_INTERVAL_MS } from "../../../services/sandbox-runner/src/reaper/reap-plan.ts";
import { reapUntil, sweep } from "../../../services/sandbox-runner/src/reaper/reaper.ts";
import { shell, testEngine, type TestEngine } from "../../support/docker.ts";

const ours = testEngine("reaper");
const theirs = testEngine("reaper-other");

afterEach(async () => {
  vi.useRealTimers();
  await Promise.all([ours.expectNoContainers(), theirs.expectNoContainers()]);
});

/** Starts a sandbox past its deadline and returns the id of its container. */
async function orphan(test: TestEngine): Promise<string> {
  const order = await test.order();
  const labels = { ...order.labels, "antiphon.deadline": String(Date.now() - 1_000) };
  return (await test.provider.start({ ...order, labels })).id;
}

function reaper(engine: Engine) {
  const reaped: [string, ReapReason][] = [];
  const failures: unknown[] = [];
  const options = {
    engine,
    instance: ours.instance,
    self: () => null,
    isOver: ({ epoch }: AttemptName) => Promise.resolve(epoch === 1),
    onReaped: (id: string, reason: ReapReason) => void reaped.push([id, reason]),
    onFailure: (error: unknown) => void failures.push(error),
  };
  return { options, reaped, failures };
}

const idsOf = async (test: TestEngine): Promise<string[]> => (await test.containers()).map(({ id }) => id);

describe("the reaper", () => {
  it("removes the other containers when one cannot be removed, and that one as soon as it can", async () => {
    const ids = await Promise.all([orphan(ours), orphan(ours), orphan(ours)]);
    const [stuck = ""] = (await idsOf(ours)).filter((id) => ids.includes(id)); // the one it comes to first
    const refusing: Engine = {
      ...ours.engine,
      remove: (id) => (id === stuck ? Promise.reject(new Error("busy")) : ours.engine.remove(id)),
    };
    const { options, reaped, failures } = reaper(refusing);
    expect(await sweep(options, Date.now())).toBe(2);
    expect(await idsOf(ours)).toEqual([stuck]);
    expect(failures).toMatchObject([{ message: "busy" }]);
    expect(await sweep({ ...options, engine: ours.engine }, Date.now())).toBe(1);
    expect(reaped.toSorted()).toEqual(ids.map((id) => [id, "deadline"]).toSorted());
  });

  it("removes the container of an attempt that is over, but not one of the next attempt or of a young one", async () => {
    const start = async (epoch: number) => {
      const sandbox = await ours.provider.start(await ours.order());
      const job = { run: "run_r8", task: "T-001", epoch, purpose: "attempt" } as const;
      await sandbox.assign(containerName(ours.instance, job, `x${epoch}`));
      return sandbox;
    };
    const [first, second] = await Promise.all([start(1), start(2)]);
    const { options, reaped, failures } = reaper(ours.engine);
    expect(await sweep(options, Date.now())).toBe(0); // The attempt may have ended only just now.
    expect(await sweep(options, Date.now() + 30_000)).toBe(1);
    expect([reaped, failures]).toEqual([[[first.id, "epoch-over"]], []]);
    await second.destroy({ kind: "canceled", reason: "seen" });
  });

  it("sweeps again only when the sweep before is over", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    let looks = 0;
    let answer = (): void => undefined;
    const held = new Promise<void>((resolve) => (answer = resolve));
    const slow: Engine = {
      ...ours.engine,
      list: async () => {
        looks += 1;
        await held;
        return [];
      },
    };
    const stop = new AbortController();
    const ended = reapUntil(reaper(slow).options, stop.signal);
    await vi.advanceTimersByTimeAsync(10 * REAP_INTERVAL_MS);
    expect(looks).toBe(1);
    answer();
    while (vi.getTimerCount() === 0) await new Promise((resolve) => setImmediate(resolve)); // it pauses between sweeps
    await vi.advanceTimersByTimeAsync(REAP_INTERVAL_MS);
    expect(looks).toBe(2);
    stop.abort();
    await ended;
  });

  it("sandbox-runner/S4: removes only containers of its own instance, even if others are older", async () => {
    const [own, other] = await Promise.all([orphan(ours), orphan(theirs)]);
    const { options, reaped } = reaper(ours.engine);
    expect(await sweep(options, Date.now())).toBe(1);
    expect(reaped).toEqual([[own, "deadline"]]);
    expect(await idsOf(theirs)).toEqual([other]);
    expect(await sweep({ ...options, instance: theirs.instance }, Date.now())).toBe(1);
  });
});

describe("an engine that fails to kill and to remove", () => {
  const fails = () => Promise.reject(new Error("the engine fails"));
  const failing = (changes: Partial<Engine> = {}) =>
    new DockerProvider({
      engine: { ...ours.engine, kill: fails, remove: fails, ...changes },
      newName: () => `${ours.instance}-failing`,
    });
  const over = { kind: "canceled", reason: "enough" } as const;

  it("does not keep a canceled command running, because its supervisor ends it", async () => {
    const provider = failing();
    const sandbox = await provider.start(await ours.order());
    const ended = expect(sandbox.run(shell("trap '' TERM; while :; do :; done"))).rejects.toMatchObject({
      death: over,
    });
    await sandbox.destroy(over);
    await ended;
    expect(await idsOf(ours)).toEqual([]);
    expect(provider.held()).toEqual(new Set());
  });

  it("leaves a container that does not end either to the reaper, because its runner no longer holds it", async () => {
    const provider = failing();
    const sandbox = await provider.start(await ours.order());
    await promisify(execFile)("docker", ["kill", "--signal", "STOP", sandbox.id]); // its supervisor cannot read its stdin
    await expect(sandbox.destroy(over)).rejects.toThrow("the engine fails");
    expect(await idsOf(ours)).toEqual([sandbox.id]);
    const { options, reaped } = reaper(ours.engine);
    const self = () => ({ owner: ownLabel(), held: provider.held() });
    expect(await sweep({ ...options, self }, Date.now() + 30_000)).toBe(1);
    expect(reaped).toEqual([[sandbox.id, "not-held"]]);
    await sandbox.gone;
  });

  it("keeps no container that was refused, and the reason of the refusal is reported", async () => {
    const provider = failing({
      inspect: async (id) => ({ ...(await ours.engine.inspect(id)), Image: "sha256:another" }),
    });
    await expect(provider.start(await ours.order())).rejects.toMatchObject({ code: "ANT_SANDBOX_REFUSED" });
    expect(provider.held()).toEqual(new Set());
    await ours.expectNoContainers(); // its supervisor ends the container
  });
});
