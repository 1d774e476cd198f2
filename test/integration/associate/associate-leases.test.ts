/**
 * associate/A8 with probed leases: what another Associate does about an attempt whose holder is killed, stopped, out of reach
 * for a moment, or of a release that cannot be asked. The holders are processes of their own.
 */
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { limits } from "@antiphon/contracts";
import { provision } from "@antiphon/runtime";
import { eventually } from "../../support/nats.ts";
import { cleanUpRepos, tempDir } from "../../support/repo.ts";
import { openWorld, REDELIVERY_MS, TASK } from "./associate-world.ts";
import type { Associate, Sent, World } from "./associate-world.ts";
import { builtProgram } from "../../support/built-program.ts";

const ROOT = new URL("../../..", import.meta.url).pathname;
const SLOW = "while [ ! -e /tmp/never ]; do sleep 1; done";
const START_MS = 60_000;
const scripted = (...commands: string[]) => ({ agent: { kind: "scripted" as const, commands } });

let world: World;
const processes = new Set<ChildProcess>();

beforeAll(async () => {
  world = await openWorld();
  await provision(world.bus, { probedLeases: true });
});

afterEach(async () => {
  for (const child of processes) await ended(child);
  await world.stopAssociates();
});

afterAll(async () => {
  await world.close();
  cleanUpRepos();
});

async function ended(child: ChildProcess): Promise<void> {
  processes.delete(child);
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, "exit");
  child.kill("SIGKILL");
  await exited;
}

const PROGRAM = await builtProgram(new URL("../../support/associate-process.ts", import.meta.url));

/** An Associate as users have it, with a state directory of its own, so that no other one reads its notes. */
function associateProcess(name: string): ChildProcess {
  const child = spawn(process.execPath, [PROGRAM], {
    cwd: ROOT,
    stdio: "ignore",
    env: {
      ...process.env,
      ANTIPHON_NATS_URL: world.nats.url,
      ANTIPHON_UNSAFE_TRUST: "1",
      ANTIPHON_ASSOCIATE_ID: name,
      ANTIPHON_ASSOCIATE_SLOTS: "1",
      ANTIPHON_STATE_DIR: tempDir("antiphon-lease-"),
    },
  });
  processes.add(child);
  return child;
}

/** The attempt of a process that works, with another Associate that is connected for as long as it takes to be believed. */
async function heldBy(
  name: string,
  command: string,
): Promise<{ child: ChildProcess; sent: Sent; other: Associate }> {
  const child = associateProcess(name);
  const sent = await world.dispatch(scripted(command));
  await eventually("the container runs", () => world.containers(sent.runId).length === 1, START_MS);
  const other = await world.associate(`${name}_other`, { slots: 1 });
  const upAt = performance.now();
  await eventually(
    "the other one is connected for long",
    () => performance.now() - upAt > limits.associateAckWaitMs,
  );
  return { child, sent, other };
}

async function resultOf(sent: Sent): Promise<{ atMs: number; body: unknown }> {
  await world.result(sent, REDELIVERY_MS);
  const record = await world.journal.find("result", sent.runId, TASK, sent.epoch);
  return { atMs: record?.at.getTime() ?? 0, body: record?.body };
}

const looks = ({ lines }: Associate, { runId }: Sent): unknown[] =>
  lines.filter((line) => line["run"] === runId && "seen" in line).map((line) => line["seen"]);

test(
  "associate/A8: an attempt whose holder is killed goes on before the lease could be over",
  async () => {
    const { child, sent, other } = await heldBy("as_killed", SLOW);
    const killedAtMs = Date.now();
    await ended(child);
    const { atMs, body } = await resultOf(sent);
    expect(body).toEqual({ kind: "lapsed", observer: "as_killed_other", holder: "as_killed" });
    expect(looks(other, sent)).toEqual(["gone"]);
    // The holder beats once a second at least.
    expect(atMs - killedAtMs).toBeLessThan(limits.associateAckWaitMs - 1000);
    await eventually("its container is gone", () => world.containers(sent.runId).length === 0);
  },
  START_MS + 3 * REDELIVERY_MS,
);

test(
  "associate/A8: a holder that is stopped keeps its attempt for its whole lease",
  async () => {
    const { child, sent, other } = await heldBy("as_stopped", SLOW);
    const stoppedAtMs = Date.now();
    child.kill("SIGSTOP");
    const { atMs, body } = await resultOf(sent);
    expect(body).toMatchObject({ kind: "lapsed", holder: "as_stopped" });
    expect(looks(other, sent).at(-1)).toBe("silent");
    expect(atMs - stoppedAtMs).toBeGreaterThan(limits.associateAckWaitMs - 1000);
    child.kill("SIGCONT");
    await eventually("it has stopped its container", () => world.containers(sent.runId).length === 0);
  },
  START_MS + 3 * REDELIVERY_MS,
);

test(
  "associate/A8: a server that restarts costs no holder its attempt",
  async () => {
    const { sent } = await heldBy("as_restarted", "sleep 12; echo hello > hello.txt");
    await world.nats.kill();
    await world.nats.restart();
    expect(await world.reported(sent, REDELIVERY_MS)).toMatchObject({
      associate: "as_restarted",
      result: { status: "ok" },
    });
  },
  START_MS + 3 * REDELIVERY_MS,
);

test(
  "associate/A8: a holder of a release that cannot be asked is not taken for one that is gone",
  async () => {
    const other = await world.associate("as_newer");
    const sent = { runId: "run_older", epoch: 1 };
    const body = { associate: "as_older", incarnation: "0f2k4m6p8r0t2v4x6z8b" };
    await world.journal.append({ ...{ type: "claim", taskId: TASK, cause: null, body }, ...sent });
    await world.dispatch(scripted("true"), sent);
    await eventually("it was looked for twice", () => looks(other, sent).length >= 2, REDELIVERY_MS);
    expect(looks(other, sent)).not.toContain("gone");
    expect(await world.journal.find("result", sent.runId, TASK, 1)).toBeNull();
  },
  2 * REDELIVERY_MS,
);
