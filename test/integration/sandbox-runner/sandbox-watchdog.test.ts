/** The safeguards around a sandbox: the provider's check of a new container, and the watchdog process. */
import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import { afterAll, describe, expect, it } from "vitest";
import type { Engine } from "../../../services/sandbox-runner/src/providers/docker/docker-engine.ts";
import { DockerProvider } from "../../../services/sandbox-runner/src/providers/docker/docker-provider.ts";
import { startWatchdog } from "../../../services/sandbox-runner/src/reaper/watchdog.ts";
import { LABELS } from "../../../services/sandbox-runner/src/reaper/reap-plan.ts";
import { testEngine } from "../../support/docker.ts";
import { eventually } from "../../support/nats.ts";

const test = testEngine("watchdog");
const elsewhere = testEngine("watchdog-elsewhere");
const elsewhereDue = (labels: Readonly<Record<string, string>>) => ({
  ...labels,
  [LABELS.instance]: elsewhere.instance,
  [LABELS.deadline]: String(Date.now() - 1),
});
afterAll(async () => {
  await test.expectNoContainers();
  await elsewhere.expectNoContainers();
});

describe("a provider whose engine makes another container than the one asked for", () => {
  it("sandbox-runner/S1: refuses it before a byte goes in, and removes it", async () => {
    const said: string[] = [];
    const engine: Engine = {
      ...test.engine,
      create: (body, name) => test.engine.create({ ...body, Env: ["EXTRA=1"] }, name),
      attach: async (id) => {
        const stream = await test.engine.attach(id);
        const write = stream.write.bind(stream) as (chunk: unknown) => boolean;
        stream.write = ((chunk: unknown) => said.push("a byte") > 0 && write(chunk)) as typeof stream.write;
        return stream;
      },
    };
    const provider = new DockerProvider({ engine, newName: () => `${test.instance}-other` });
    await expect(provider.start(await test.order())).rejects.toMatchObject({ code: "ANT_SANDBOX_REFUSED" });
    expect(said).toEqual([]);
    await test.expectNoContainers();
    expect(provider.held().size).toBe(0);
  });

  it("waits for the end of a container only once its start has been answered", async () => {
    const order: string[] = [];
    const engine: Engine = {
      ...test.engine,
      start: async (id) => {
        await test.engine.start(id);
        order.push("started");
      },
      removed: (id) => {
        order.push("waited for");
        return test.engine.removed(id);
      },
    };
    const provider = new DockerProvider({ engine, newName: () => `${test.instance}-wait` });
    const sandbox = await provider.start(await test.order());
    await sandbox.destroy({ kind: "canceled", reason: "seen" });
    expect(order).toEqual(["started", "waited for"]);
  });
});

/** Null: one was closed meanwhile, such as a connection of the watchdog's to the engine. */
function openFilesOf(pid: number): string[] | null {
  try {
    return readdirSync(`/proc/${pid}/fd`).map((fd) => readlinkSync(`/proc/${pid}/fd/${fd}`));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return null;
    throw error;
  }
}

describe("the watchdog", () => {
  const owner = `owner-${test.instance}`;
  const read = (pid: number, file: string): string => readFileSync(`/proc/${pid}/${file}`, "latin1");
  const pidOf = (): number | null => {
    const pids = readdirSync("/proc").filter((name) => /^\d+$/.test(name));
    const found = pids.find((pid) => {
      try {
        return read(Number(pid), "cmdline").includes(owner) && Number(pid) !== process.pid;
      } catch {
        return false; // it ended in the meantime
      }
    });
    return found === undefined ? null : Number(found);
  };

  it("sandbox-runner/S4: removes exactly the containers past their deadline while its runner lives", async () => {
    const order = await test.order();
    const due = (deadlineMs: number) => ({
      ...order,
      labels: { ...order.labels, [LABELS.deadline]: String(deadlineMs) },
    });
    const [late, early, other] = await Promise.all([
      test.provider.start(due(Date.now() + 60_000)),
      test.provider.start(due(Date.now() - 1)),
      elsewhere.provider.start({ ...order, labels: elsewhereDue(order.labels) }),
    ]);
    const address = await test.engine.address();
    if (address === null) throw new Error("the engine is not local");
    const watchdog = startWatchdog(address, { instance: test.instance, owner }, 100);
    await early.gone;
    expect((await test.containers()).map(({ id }) => id)).toEqual([late.id]);
    expect(await elsewhere.containers()).toHaveLength(1); // It is past its deadline too, but belongs to another instance.
    await watchdog.farewell();
    await Promise.all([late, other].map((one) => one.destroy({ kind: "canceled", reason: "seen" })));
  });

  it("runs in a session of its own, without environment or open files of ours, and survives the terminal's signals", async () => {
    const watchdog = startWatchdog(
      { socketPath: "/nowhere/docker.sock" },
      { instance: test.instance, owner },
    );
    await eventually("it runs", () => pidOf() !== null);
    const pid = pidOf() ?? 0;
    const caught = (): bigint => BigInt(`0x${/SigCgt:\s*(\w+)/.exec(read(pid, "status"))?.[1] ?? "0"}`);
    const bits = [1n, 2n, 15n]; // SIGHUP, SIGINT, SIGTERM
    await eventually("it catches the signals", () =>
      bits.every((bit) => ((caught() >> (bit - 1n)) & 1n) === 1n),
    );
    const [, , , session] = read(pid, "stat")
      .slice(read(pid, "stat").lastIndexOf(")") + 2)
      .split(" ");
    expect(Number(session)).toBe(pid);
    expect(read(pid, "environ")).toBe("");
    let open: string[] = [];
    await eventually("no file is closed while all are listed", () => {
      const found = openFilesOf(pid);
      open = found ?? [];
      return found !== null;
    });
    expect(open.filter((to) => to.startsWith("/") && to !== "/dev/null")).toEqual([]);
    for (const signal of ["SIGHUP", "SIGINT", "SIGTERM"] as const) process.kill(pid, signal);
    await eventually("it has received the signals", () => /^ShdPnd:\s*0+$/m.test(read(pid, "status")));
    expect(pidOf()).toBe(pid);
    await watchdog.farewell();
    expect(pidOf()).toBeNull();
  });
});
