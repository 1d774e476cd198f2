import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { ownLabel } from "@antiphon/runtime";
import { eventually } from "../../support/nats.ts";
import { patient } from "../../support/patience.ts";
import { cleanUpRepos } from "../../support/repo.ts";
import { openWorld, REDELIVERY_MS, TASK } from "./associate-world.ts";
import type { Sent, World } from "./associate-world.ts";

let world: World;

beforeAll(async () => {
  world = await openWorld();
});

afterEach(async () => {
  await world.stopAssociates();
});

afterAll(async () => {
  await world.close();
  cleanUpRepos();
});

const scripted = (...commands: string[]) => ({ agent: { kind: "scripted" as const, commands } });
const SLOW = "while [ ! -e /tmp/never ]; do sleep 1; done";

describe("an Associate that dies", () => {
  test(
    "associate/A2: has its expired claim recorded by another Associate, which then does the next epoch",
    async () => {
      const first = await world.associate("as_first", { slots: 1 });
      const sent = await world.dispatch(scripted(SLOW));
      await eventually("the container runs", () => world.containers(sent.runId).length === 1);
      await first.crash();
      await world.associate("as_second", { slots: 1 });
      const body = await world.result(sent, REDELIVERY_MS);
      expect(body).toEqual({ kind: "lapsed", observer: "as_second", holder: "as_first" });
      expect((await world.claim(sent)).body).toMatchObject({ associate: "as_first" });
      await eventually("the orphaned container is gone", () => world.containers(sent.runId).length === 0);

      const next = await world.dispatch(scripted("echo hello > hello.txt"), { runId: sent.runId, epoch: 2 });
      expect((await world.reported(next)).result.status).toBe("ok");
      await eventually("both dispatches are acknowledged", async () => (await world.unfinished()) === 0);
    },
    2 * REDELIVERY_MS,
  );

  test("associate/A1: whose claim is found on the first delivery keeps it until the dispatch is delivered again", async () => {
    await world.associate("as_patient");
    const [runId, epoch] = ["run_held", 1];
    const body = { associate: "as_gone", incarnation: "x" };
    await world.journal.append({ type: "claim", runId, taskId: TASK, epoch, cause: null, body });
    const sent = await world.dispatch(scripted("true"), { runId, epoch });
    await eventually("the dispatch is handed back", async () => (await world.unfinished()) === 1);
    expect(await world.journal.find("result", runId, TASK, epoch)).toBeNull();
    expect(await world.result(sent)).toEqual({ kind: "lapsed", observer: "as_patient", holder: "as_gone" });
  });

  test("associate/A8: and was killed loses its claim as soon as the next one starts on its machine, and not before", async () => {
    const [runId, epoch] = ["run_killed", 1];
    const holder = { associate: "as_killed", incarnation: "incarnation-of-the-killed" };
    const claim = { type: "claim" as const, runId, taskId: TASK, epoch, cause: null, body: holder };
    await world.journal.append(claim);
    const process = spawn("sleep", ["600"]);
    const notes = { owner: ownLabel(process.pid), ...holder };
    const file = join(world.claimsDir, "killed.claims");
    mkdirSync(world.claimsDir, { recursive: true });
    writeFileSync(file, `${JSON.stringify(notes)}\n+${JSON.stringify([runId, TASK, epoch])}\n`);

    const early = await world.associate("as_early");
    await early.service.stop();
    expect(await world.journal.find("result", runId, TASK, epoch)).toBeNull();
    expect(existsSync(file)).toBe(true);

    const exited = once(process, "exit");
    process.kill("SIGKILL");
    await exited;
    await world.associate("as_next");
    const sent = { runId, epoch };
    expect(await world.result(sent)).toEqual({ kind: "lapsed", observer: "as_next", holder: "as_killed" });
    await eventually("its file is removed", () => !existsSync(file));
  });

  test("associate/A2: and comes back late has its result refused by the journal", async () => {
    const zombie = await world.associate("as_zombie");
    const sent = await world.dispatch(scripted("sleep 3; echo hello > hello.txt"));
    const claim = await world.claim(sent);
    const { runId, epoch } = sent;
    const lapsed = { kind: "lapsed" as const, observer: "as_other", holder: "as_zombie" };
    const cause = { seq: claim.seq, digest: claim.digest };
    await world.journal.append({ type: "result", runId, taskId: TASK, epoch, cause, body: lapsed });
    await eventually("it learns that its claim is lost", () =>
      zombie.lines.some((line) => line["code"] === "ANT_CLAIM_LOST" && line["run"] === runId),
    );
    expect(await world.result(sent)).toEqual(lapsed);
    await eventually("the dispatch is acknowledged", async () => (await world.unfinished()) === 0);
  });
});

describe("an Associate that is cut off", () => {
  test(
    "associate/A1: stops its sandbox before another Associate can take its claim, and goes on when the server is back",
    async () => {
      const cutOff = await world.associate("as_cutoff", { slots: 1 });
      // It ends at a fixed time, so that the first try outlasts the outage's start and a second try ends soon.
      const over = Math.ceil(Date.now() / 1000) + 20;
      const sent = await world.dispatch(
        scripted(
          `if [ -e hello.txt ]; then exit 1; fi; while [ $(date +%s) -lt ${over} ]; do sleep 0.2; done; echo hello > hello.txt`,
        ),
      );
      const next = ({ runId }: Sent): Promise<Sent> =>
        world.dispatch(scripted("echo hello > hello.txt"), { runId, epoch: 2 });
      await eventually("the container runs", () => world.containers(sent.runId).length === 1);
      world.nats.pause();
      try {
        await eventually(
          "it stops its attempt",
          () => cutOff.lines.some((line) => line["why"] === "fenced"),
          REDELIVERY_MS,
        );
        await eventually("its container is gone", () => world.containers(sent.runId).length === 0);
      } finally {
        world.nats.resume();
      }
      const body = await world.result(sent, 2 * REDELIVERY_MS);
      // When the container was slow to stop it may still have been running; then the attempt is abandoned (associate/A1).
      const lost = { kind: "abandoned", associate: "as_cutoff", code: "ANT_SANDBOX_RUNNER_LOST" };
      if (body.kind === "abandoned") expect(body).toMatchObject(lost);
      const last = body.kind === "abandoned" ? await next(sent) : sent;
      expect(await world.reported(last)).toMatchObject({ associate: "as_cutoff", result: { status: "ok" } });
    },
    4 * REDELIVERY_MS,
  );
});

describe("an Associate that is told to stop", () => {
  test("records an unfinished attempt as abandoned, and leaves no container", async () => {
    const leaving = await world.associate("as_leaving");
    const sent = await world.dispatch(scripted(SLOW));
    await eventually("the container runs", () => world.containers(sent.runId).length === 1);
    await leaving.service.stop();
    expect(await world.result(sent)).toMatchObject({ kind: "abandoned", code: "ANT_ASSOCIATE_DRAINING" });
    await eventually("the container is gone", () => world.containers(sent.runId).length === 0);
    expect(await world.unfinished()).toBe(0);
  });

  test("finishes what it can in time, and takes no new dispatch", async () => {
    const leaving = await world.associate("as_leaving_slowly", { slots: 1, drainMs: 20_000 });
    const sent = await world.dispatch(scripted("sleep 1; echo hello > hello.txt"));
    await world.claim(sent);
    const stopped = leaving.service.stop();
    const later = await world.dispatch(scripted("echo hello > hello.txt"));
    await stopped;
    expect((await world.reported(sent)).result.status).toBe("ok");
    expect(await world.journal.find("claim", later.runId, TASK, 1)).toBeNull();
    await world.associate("as_heir");
    expect((await world.reported(later)).associate).toBe("as_heir");
  });
});

describe("a sandbox-runner that is gone", () => {
  test(
    "associate/A5: is waited for; then the attempt is abandoned as an outage",
    async () => {
      await world.associate("as_alone", { sandboxPatienceMs: 1500 });
      for (const runner of world.runners) await runner.stop();
      const sent = await world.dispatch(scripted("echo hello > hello.txt"));
      const body = await world.result(sent);
      expect(body).toMatchObject({ kind: "abandoned", code: "ANT_SANDBOX_RUNNER_LOST", outage: true });
      await world.runner();
      const next = await world.dispatch(scripted("echo hello > hello.txt"), { runId: sent.runId, epoch: 2 });
      expect((await world.reported(next)).result.status).toBe("ok");
    },
    patient(60_000),
  );
});
