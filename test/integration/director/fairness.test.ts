/** The order of admission, with the real Router, Director and server. The test plays the Associates, with two slots. */
import { limits } from "@antiphon/contracts";
import type { IntentBody, RunOptions } from "@antiphon/contracts";
import { consume, createLogger, readRuntimeConfig, startService } from "@antiphon/runtime";
import type { RunningService } from "@antiphon/runtime";
import { runOptions } from "@antiphon/contracts/testing/records";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startRouter } from "../../../services/router/src/wiring.ts";
import { eventually } from "../../support/nats.ts";
import { cleanUpRepos, makeRepo } from "../../support/repo.ts";
import type { TestRepo } from "../../support/repo.ts";
import { SCRIPTED, openWorld } from "../gateway/gateway-world.ts";
import type { World } from "../gateway/gateway-world.ts";

const log = createLogger("test", { level: "silent" });
const SLOTS = 2;
let world: World;
let router: RunningService;
let repo: TestRepo;

beforeAll(async () => {
  repo = makeRepo({ files: { "a.txt": "a\n" } });
  world = await openWorld();
  router = await startService(
    {
      name: "router",
      start: (context) => {
        const consumption = startRouter(context, 8);
        return Promise.resolve({ drain: () => consumption.drain() });
      },
    },
    readRuntimeConfig({ ANTIPHON_NATS_URL: world.nats.url, ANTIPHON_UNSAFE_TRUST: "1" }),
    log,
  );
});

afterAll(async () => {
  await router.stop();
  await world.close();
  cleanUpRepos();
});

async function ask(runId: string, options: Partial<RunOptions>): Promise<void> {
  const at = { name: "app", path: repo.path };
  const body: IntentBody = {
    intentId: "it_1",
    intent: { goal: "Do it", inputs: {}, constraints: {} },
    options: runOptions({ repo: at, agent: SCRIPTED as RunOptions["agent"], checks: ["true"], ...options }),
    base: { repo: at, ref: "refs/heads/main", commit: repo.head },
    principal: "test",
  };
  await world.journal.append({ type: "intent", runId, taskId: null, epoch: 0, cause: null, body });
}

async function settled(): Promise<void> {
  await eventually("router and director are idle", async () => {
    const infos = await Promise.all(
      ["router", "director"].map((name) => world.bus.jsm.consumers.info("ANT_JOURNAL_0", name)),
    );
    return infos.every(({ num_ack_pending, num_pending }) => num_ack_pending + num_pending === 0);
  });
}

test("director/D9: five hundred batch tasks of one tenant delay another tenant's interactive task by a bound, and progress beside a steady load", async () => {
  const order: string[] = [];
  const held: (() => void)[] = [];
  const stop = new AbortController();
  const associate = consume(world.bus, {
    consumer: "associate",
    slots: SLOTS,
    log,
    signal: stop.signal,
    async handle({ record }) {
      order.push(record.runId);
      await new Promise<void>((resolve) => held.push(resolve));
      return { kind: "done" };
    },
  });
  const finishOne = async (): Promise<void> => {
    await eventually("an attempt is worked on", () => held.length > 0);
    held.shift()!();
  };
  try {
    const begun = performance.now();
    await Promise.all(
      Array.from({ length: 500 }, (_, i) => ask(`run_flood${i}`, { priority: "batch", tenant: "a" })),
    );
    await eventually("both slots are taken", () => held.length === SLOTS);
    await settled();

    await ask("run_urgent", { tenant: "b" });
    await ask("run_plain", {});
    await settled();
    let finished = 0;
    // Each turn dispatches one more, even if there is no room.
    const turns = Math.ceil((performance.now() - begun) / limits.dispatchTurnMs);
    const bound = limits.dispatchAhead + SLOTS + 2 + turns;
    for (; !(order.includes("run_urgent") && order.includes("run_plain")); finished += 1) await finishOne();
    expect(finished).toBeLessThanOrEqual(bound + limits.dispatchAhead);
    expect(order.indexOf("run_plain")).toBeLessThanOrEqual(bound);

    await Promise.all(Array.from({ length: 60 }, (_, i) => ask(`run_steady${i}`, { tenant: "b" })));
    await settled();
    const before = order.length;
    for (let i = 0; i < 50; i += 1) await finishOne();
    const worked = order.slice(before);
    const floods = worked.filter((runId) => runId.startsWith("run_flood")).length;
    const steady = worked.filter((runId) => runId.startsWith("run_steady")).length;
    expect(floods).toBeGreaterThanOrEqual(4); // One in eight, even if many interactive ones wait.
    expect(steady).toBeGreaterThan(floods);
  } finally {
    stop.abort();
    for (const release of held) release();
    await associate.drain(1000);
  }
});
