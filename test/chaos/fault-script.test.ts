import { describe, expect, test } from "vitest";
import { pointsOf } from "./rig/crash-point-list.ts";
import { faultScript } from "./rig/fault-script.ts";
import { WHOLE, fullPlan } from "./rig/full-plan.ts";
import { seeded } from "./rig/random.ts";
import { jobAt } from "./rig/workload.ts";

const processes = ["gateway-1", "router-1", "director-1", "director-2", "associate-1", "sandbox-runner-1"];
const plan = {
  seed: 7,
  spanMs: 60_000,
  counts: { kill: 50, stop: 10, nats: 5, partition: 5, disk: 1, engine: 3, power: 4, points: 80 },
  processes,
  partitionable: ["director-1"],
};

describe("a fault script", () => {
  test("is a function of its seed", () => {
    expect(faultScript(plan)).toEqual(faultScript(plan));
    expect(faultScript(plan)).not.toEqual(faultScript({ ...plan, seed: 8 }));
  });

  test("holds as many faults of each kind as asked for, in order of time, within the span", () => {
    const script = faultScript(plan);
    expect(script.map(({ atMs }) => atMs)).toEqual(script.map(({ atMs }) => atMs).toSorted((a, b) => a - b));
    expect(script.every(({ atMs }) => atMs <= plan.spanMs)).toBe(true);
    for (const [kind, count] of Object.entries(plan.counts)) {
      expect(script.filter((fault) => fault.kind === kind)).toHaveLength(count);
    }
  });

  test("includes every crash point of every role, before and after each operation", () => {
    const points = pointsOf(processes);
    const hit = faultScript(plan).flatMap(({ point }) => (point === null ? [] : [JSON.stringify(point)]));
    expect(new Set(hit)).toEqual(new Set(points.map((point) => JSON.stringify(point))));
    expect(points.length).toBeGreaterThan(35);
  });

  test("spreads a part of the crash points over every role, before and after operations", () => {
    const part = faultScript({ ...plan, counts: { points: 14 } }).flatMap(({ point }) => point ?? []);
    expect(new Set(part.map((point) => JSON.stringify(point))).size).toBe(14);
    const roles = ["associate", "director", "gateway", "router", "sandbox-runner"];
    expect([...new Set(part.map(({ role }) => role))].toSorted()).toEqual(roles);
    expect(new Set(part.map(({ side }) => side))).toEqual(new Set(["before", "after"]));
  });
});

test("the work is a function of its seed, with a poison task in every hundred and some in a container", () => {
  const jobs = (seed: number) => {
    const random = seeded(seed);
    const workload = { repos: ["/a", "/b"], dockerEvery: 25, poison: true };
    return Array.from({ length: 400 }, (_, index) => jobAt(index, workload, random));
  };
  expect(jobs(1)).toEqual(jobs(1));
  expect(jobs(1).filter(({ shape }) => shape === "poison")).toHaveLength(4);
  expect(jobs(1).filter(({ shape }) => shape === "sandbox")).toHaveLength(16);
  expect(new Set(jobs(1).map(({ shape }) => shape)).size).toBe(9);
});

describe("the whole campaign", () => {
  test("is the sum of its legs: every announced fault is included, on one server and on three", () => {
    const legs = fullPlan(7, 1, 40);
    const sum = (of: (leg: (typeof legs)[number]) => number | undefined): number =>
      legs.reduce((total, leg) => total + (of(leg) ?? 0), 0);
    expect(sum(({ runs }) => runs)).toBe(WHOLE.runs);
    expect(sum(({ counts }) => counts.kill)).toBe(300);
    expect(sum(({ counts }) => counts.stop)).toBe(300);
    expect(sum(({ counts }) => counts.nats)).toBe(300);
    expect(sum(({ counts }) => counts.partition)).toBe(200);
    expect(sum(({ counts }) => counts.disk)).toBe(20);
    expect(sum(({ counts }) => counts.points)).toBe(50 * 40);
    expect(new Set(legs.map(({ servers }) => servers))).toEqual(new Set([1, 3]));
    expect(new Set(legs.map(({ seed }) => seed)).size).toBe(legs.length);
  });
});
