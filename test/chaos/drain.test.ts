/**
 * Every role is stopped under load: it takes no more work, finishes the work it has, and exits in time. The server
 * counts redeliveries: a record that was delivered twice was work left undone.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { limits, topology } from "@antiphon/contracts";
import { ROLES } from "@antiphon/contracts/roles";
import type { Bus } from "@antiphon/runtime";
import { afterAll, expect, test } from "vitest";
import { startAntiphon } from "./rig/antiphon.ts";
import { Client } from "./rig/client.ts";
import { Load } from "./rig/load.ts";
import { seeded } from "./rig/random.ts";
import { eventually } from "../support/nats.ts";
import { patient } from "../support/patience.ts";
import { cleanUpRepos, makeRepo } from "../support/repo.ts";

const WORKERS = ["router", "director", "associate", "timers"];
const dir = mkdtempSync(join(tmpdir(), "antiphon-drain-"));

afterAll(() => {
  cleanUpRepos();
  rmSync(dir, { recursive: true, force: true });
});

/** Redeliveries per consumer: deliveries beyond the number of messages. */
async function handedOutAgain(bus: Bus): Promise<Record<string, number>> {
  const again: Record<string, number> = {};
  for (const { name, stream, filterSubjects } of topology.consumers) {
    if (!WORKERS.includes(name)) continue;
    const { delivered } = await bus.jsm.consumers.info(stream, name);
    const { state } = await bus.jsm.streams.info(stream, { subjects_filter: ">" });
    const prefixes = filterSubjects.map((filter) => filter.slice(0, -1));
    const there = Object.keys(state.subjects ?? {}).filter((subject) =>
      prefixes.some((prefix) => subject.startsWith(prefix)),
    );
    again[name] = (again[name] ?? 0) + delivered.consumer_seq - there.length;
  }
  return again;
}

test(
  "a process of each role that is stopped under load exits in order and causes no redelivery",
  { timeout: patient(240_000) },
  async () => {
    const repos = [makeRepo(), makeRepo()].map(({ path, head }) => ({ path, base: head }));
    const system = await startAntiphon({
      seed: 1,
      dir,
      sizes: { gateway: 2, router: 2, director: 2, associate: 2, "sandbox-runner": 2, egress: 1 },
      partitionable: [],
      diskMebibytes: null,
      power: null,
      servers: 1,
      poison: "",
      repos,
    });
    try {
      const workload = { repos: repos.map(({ path }) => path), dockerEvery: 10, poison: false };
      const options = { seed: 1, runs: 40, workload, open: 6, submitters: 3 };
      const load = new Load(system, new Client(system.urls), options, seeded(2));
      let over = false;
      const driven = load.drive(() => over);
      for (const role of ROLES) {
        const [victim] = system.victims.filter(({ spec }) => spec.role === role);
        const [before, accepted] = [load.ended.size, load.accepted.size];
        await eventually(
          "work is running",
          () => load.ended.size > before && load.accepted.size > accepted,
          60_000,
        );
        const { code, tookMs } = await victim!.leave();
        expect({ role, code }, victim!.said()).toEqual({ role, code: 0 });
        expect(tookMs, role).toBeLessThanOrEqual(limits.drainMs);
      }
      over = true;
      await driven;
      await load.settle(60_000);
      expect(load.open).toBe(0);
      const bus = await system.broker.connect({ name: "drain" });
      expect(await handedOutAgain(bus)).toEqual({ router: 0, director: 0, associate: 0, timers: 0 });
    } finally {
      await system.drain();
      await system.remove();
    }
  },
);
