/** A sandbox-runner as a process of its own: killed, told to stop, and without what it needs. */
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { startNats, type NatsServer } from "../../support/nats.ts";
import { sandboxImage, testEngine, until } from "../../support/docker.ts";
import { openSwap } from "../../support/swap-file.ts";
import { builtProgram } from "../../support/built-program.ts";
import { patient } from "../../support/patience.ts";

const test = testEngine("runner-process");
let nats: NatsServer;
let directory: string;

beforeAll(async () => {
  nats = await startNats();
  directory = mkdtempSync(join(tmpdir(), "antiphon-runner-"));
});
afterAll(async () => {
  rmSync(directory, { recursive: true, force: true });
  await nats.close();
});

const PROGRAM = await builtProgram(new URL("../../support/runner-process.ts", import.meta.url));

describe("a runner of its own process", () => {
  const instance = `${test.instance}-p`;
  const children: ChildProcess[] = [];

  function launch(env: Record<string, string>): { child: ChildProcess; errors: () => string } {
    let errors = "";
    const child = spawn(process.execPath, [PROGRAM], {
      env: {
        ...process.env,
        ANTIPHON_NATS_URL: nats.url,
        ANTIPHON_UNSAFE_TRUST: "1",
        ANTIPHON_INSTANCE: instance,
        ANTIPHON_STATE_DIR: directory,
        ANTIPHON_SANDBOX_IMAGE: sandboxImage(),
        ANTIPHON_SANDBOX_WARM: "2",
        ...env,
      },
      stdio: ["ignore", "ignore", "pipe"],
    });
    child.stderr?.on("data", (chunk) => (errors += String(chunk)));
    children.push(child);
    return { child, errors: () => errors };
  }

  const theirs = () => test.engine.list(instance);

  afterEach(async () => {
    for (const child of children.splice(0)) {
      if (child.exitCode !== null || child.signalCode !== null) continue;
      child.kill("SIGKILL");
      await once(child, "exit");
    }
    const left = await until(theirs, (found) => found.length === 0, 10_000);
    expect(left).toEqual([]);
  });

  it("leaves no container when it is killed, not even a warm one", async () => {
    const { child } = launch({});
    expect((await until(theirs, (found) => found.length === 2, 60_000)).length).toBe(2);
    child.kill("SIGKILL");
    await once(child, "exit");
    const started = performance.now();
    expect(await until(theirs, (found) => found.length === 0, 60_000)).toEqual([]);
    expect(performance.now() - started).toBeLessThan(60_000);
  });

  it(
    "sandbox-runner/S11: has no user in common with another runner, also when one is killed and started again",
    async () => {
      const owners = new Set<string>();
      const running = async (): Promise<number> => {
        const found = await theirs();
        const uids = found.map(({ labels }) => labels["antiphon.uid"]);
        expect(uids).not.toContain(undefined);
        expect(new Set(uids).size).toBe(uids.length); // at every look
        for (const { labels } of found) owners.add(labels["antiphon.owner"] ?? "");
        return found.filter(({ isRunning }) => isRunning).length;
      };
      const four = async (): Promise<number> => until(running, (count) => count === 4, 60_000);
      const [{ child }] = [launch({}), launch({})];
      expect(await four()).toBe(4);
      for (let round = 0; round < 2; round += 1) {
        const [latest] = round === 0 ? [child] : children.slice(-1);
        latest?.kill("SIGKILL");
        launch({}); // while the containers of the killed one are still there
        await until(running, (count) => count < 4, 30_000);
        expect(await four()).toBe(4);
      }
      expect(owners.size).toBe(4);
    },
    patient(120_000),
  );

  it("leaves no container when it is told to stop", async () => {
    const { child } = launch({});
    await until(theirs, (found) => found.length === 2, 60_000);
    child.kill("SIGTERM");
    const [code] = (await once(child, "exit")) as [number];
    expect(code).toBe(0);
    expect(await theirs()).toEqual([]);
  });

  it(
    "gives its sandboxes the swap it is told to, but none that the machine has not for all, and by default none",
    async () => {
      const swap = await openSwap(32 * 2 ** 20);
      /** Of each warm sandbox, in MiB. */
      const granted = async (env: Record<string, string>): Promise<{ swapMib: number[]; log: string }> => {
        const { child, errors } = launch({ ANTIPHON_SANDBOX_SLOTS: "2", ...env });
        const ready = () => Promise.resolve(errors().includes('"ready":true'));
        expect(await until(ready, (is) => is, 60_000)).toBe(true);
        const warm = await until(
          theirs,
          (found) => found.filter((one) => one.isRunning).length === 2,
          60_000,
        );
        const swapMib = warm.map(async ({ id }) => {
          const { HostConfig } = await test.engine.inspect(id);
          return (Number(HostConfig["MemorySwap"]) - Number(HostConfig["Memory"])) / 2 ** 20;
        });
        const found = await Promise.all(swapMib);
        child.kill("SIGTERM");
        await once(child, "exit");
        return { swapMib: found, log: errors() };
      };
      try {
        const none = await granted({});
        expect(none.swapMib).toEqual([0, 0]);
        expect(none.log).not.toContain("no swap for sandboxes");
        const some = await granted({ ANTIPHON_SANDBOX_SWAP_MIB: "15" });
        expect(some.swapMib).toEqual(swap.why === null ? [15, 15] : [0, 0]);
        expect(some.log.includes("no swap for sandboxes")).toBe(swap.why !== null);
        const tooMuch = await granted({ ANTIPHON_SANDBOX_SWAP_MIB: "65536" });
        expect(tooMuch.swapMib).toEqual([0, 0]);
        expect(tooMuch.log).toContain("no swap for sandboxes");
      } finally {
        await swap.close();
      }
    },
    patient(120_000),
  );

  it("is not ready without Docker, and reports the remedy", async () => {
    const { child, errors } = launch({ DOCKER_HOST: "unix:///nowhere/docker.sock" });
    const said = await until(
      async () => await Promise.resolve(errors()),
      (log) => log.includes("ANT_DOCKER_UNREACHABLE"),
      30_000,
    );
    expect(said).toContain("antiphon setup");
    expect(said).not.toContain('"ready":true');
    expect(child.exitCode).toBe(null);
  });

  it("is not ready without its image, and reports the remedy", async () => {
    const { errors } = launch({ ANTIPHON_SANDBOX_IMAGE: "antiphon-none:none" });
    const said = await until(
      async () => await Promise.resolve(errors()),
      (log) => log.includes("ANT_SANDBOX_IMAGE_MISSING"),
      30_000,
    );
    expect(said).toContain("antiphon setup");
  });
});
