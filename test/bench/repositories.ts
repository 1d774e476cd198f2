/**
 * Measures repositories as they are: generated ones of 1,000 to 100,000 files and one with 30,000 files of packages, beside
 * what a person would do by hand on the same machine and in the same minutes (`git worktree add`, `npm ci`, the check;
 * `docker run -v` with the same image). All services, git, npm and the engine are real.
 *
 * Not measured: registries (the packages are tarballs of the tree), agents that think, a disk whose cache is cold.
 */
import { execFileSync } from "node:child_process";
import { loadavg } from "node:os";
import { byHand, installs, type ByHand } from "./repositories/by-hand.ts";
import { CHECK, FIX, generate, type Generated, type Size } from "./repositories/generated.ts";
import { Preparations } from "./repositories/prepared.ts";
import { movedBases, type MovedRun } from "./repositories/moved.ts";
import { largeTree } from "./repositories/large.ts";
import { startStack } from "../e2e/support/stack.ts";
import { egressWorld, type EgressWorld } from "../support/egress-world.ts";
import { testEngine } from "../support/docker.ts";
import { pooled } from "./gate-world.ts";
import { landedRun, type SeenRecord } from "./landed-run.ts";
import { changesOut, memoryOfMany } from "./layers.ts";

const READY_MS = 60;
const FASTER = 20;
const PREPARED_RATIO = 1.15;
const CHANGES_MS = 150;
/** Each with so many sandboxes and one work tree by hand, in turn. */
const READY_ROUNDS = 3;
const SANDBOXES_OF_ROUND = 3;
/** Sandboxes before them, for which layers are unpacked. */
const UNCOUNTED = 3;
const PREPARED_ROUNDS = 3;
const LANDED_ROUNDS = 7;

const SMALL = { packages: 10, filesOfPackage: 30 };
const SIZES: Readonly<Record<string, Size>> = {
  "1000": { label: "1,000 files", files: 1_000, ...SMALL },
  "10000": { label: "10,000 files", files: 10_000, ...SMALL },
  "100000": { label: "100,000 files", files: 100_000, ...SMALL },
  packages: { label: "30,000 files of packages", files: 200, packages: 100, filesOfPackage: 300 },
  "packages-3000": { label: "3,000 files of packages", files: 200, packages: 100, filesOfPackage: 30 },
};
/** Seconds from intent to landed, beyond the check's own time. */
const LANDED_S: Readonly<Record<string, number>> = { "1000": 0.6, "100000": 1.5 };

interface Row {
  readonly figure: string;
  readonly value: string;
  /** Empty: no goal. */
  readonly goal: string;
  readonly isMet: boolean | null;
}

const PARTS: Readonly<Record<string, () => Promise<Row[]>>> = {
  ...Object.fromEntries(Object.entries(SIZES).map(([name, size]) => [`ready-${name}`, () => ready(size)])),
  prepared: () => prepared("packages"),
  "prepared-3000": () => prepared("packages-3000"),
  landed,
  moved,
  changes,
  memory,
  large,
};
/** Takes some 40 GiB of disk, so it is measured only when it is asked for. */
const ONLY_ASKED: ReadonlySet<string> = new Set(["large"]);

/** `asked`: the selected PARTS; none selects all but ONLY_ASKED. */
export async function run(asked: readonly string[]): Promise<void> {
  const unknown = asked.find((part) => !Object.hasOwn(PARTS, part));
  if (unknown !== undefined) throw new Error(`no part ${unknown}, only ${Object.keys(PARTS).join(", ")}`);
  const rows: Row[] = [];
  for (const [part, measure] of Object.entries(PARTS)) {
    if (asked.length === 0 ? ONLY_ASKED.has(part) : !asked.includes(part)) continue;
    console.log(`${part}: load ${loadavg()[0]?.toFixed(1) ?? ""}`);
    const measured = await measure();
    for (const row of measured) console.log(lineOf(row));
    rows.push(...measured);
  }
  console.log("");
  for (const row of rows) console.log(lineOf(row));
}

function lineOf({ figure, value, goal, isMet }: Row): string {
  const judged = isMet === null ? "" : isMet ? "met" : "missed";
  return `${figure.padEnd(66)} ${value.padEnd(30)} ${goal.padEnd(12)} ${judged}`.trimEnd();
}

/** A sandbox with the environment cached, beside a work tree with its packages. */
async function ready(size: Size): Promise<Row[]> {
  const repository = generate(size);
  const world = await egressWorld("bench-ready");
  const times: number[] = [];
  const hand: ByHand[] = [];
  try {
    const preparations = new Preparations(world);
    const wanted = await preparations.decided(repository);
    await preparations.prepare(wanted);
    const ours = async (): Promise<number> => {
      await pooled(world.engine.instance);
      return preparations.ready(wanted);
    };
    for (let first = 0; first < UNCOUNTED; first += 1) await ours();
    for (let round = 0; round < READY_ROUNDS; round += 1) {
      for (let one = 0; one < SANDBOXES_OF_ROUND; one += 1) times.push(await ours());
      hand.push(byHand(repository));
    }
  } finally {
    await closed(world, repository);
  }
  const [own, person] = [p50(times), p50(hand.map(({ worktree, install }) => worktree + install))];
  const of = (step: keyof ByHand): string => ms(p50(hand.map((one) => one[step])));
  const steps = (["worktree", "install", "check"] as const).map(of).join(", ");
  return [
    judged(`${size.label}: sandbox ready, p50 (worst ${ms(Math.max(...times))})`, own, READY_MS, ms),
    told("  by hand: git worktree add, npm ci, check", steps),
    told("  by hand: docker run -v of it, nothing done", of("container")),
    atLeast("  faster than worktree + install", person / own, FASTER),
  ];
}

/** Removing the volumes of a large layer takes the engine longer than a runner would wait for it. */
async function closed(world: EgressWorld, repository: Generated): Promise<void> {
  await world.close();
  const names = execFileSync("docker", ["volume", "ls", "--quiet"], { encoding: "utf8" }).split("\n");
  const own = names.filter((name) => name.includes(world.engine.instance));
  if (own.length > 0) execFileSync("docker", ["volume", "rm", ...own], { stdio: "ignore" });
  repository.remove();
}

/** Preparing an environment for the first time, beside a bare `npm ci`. */
async function prepared(name: string): Promise<Row[]> {
  const world = await egressWorld("bench-prepared");
  const repository = generate(SIZES[name] ?? { label: "", files: 1, ...SMALL });
  const ours: number[] = [];
  const hand: ReturnType<typeof installs>[] = [];
  try {
    const preparations = new Preparations(world);
    for (let round = -1; round < PREPARED_ROUNDS; round += 1) {
      repository.renew(round);
      const took = await preparations.prepare(await preparations.decided(repository));
      const bare = installs(repository);
      if (round < 0) continue;
      ours.push(took);
      hand.push(bare);
    }
  } finally {
    await closed(world, repository);
  }
  const [here, inContainer] = [hand.map((one) => one.here), hand.map((one) => one.inContainer)];
  const ratio = (bare: readonly number[]): number => p50(ours.map((own, at) => own / (bare[at] ?? own)));
  return [
    told(`environment of ${repository.label} prepared the first time, p50`, ms(p50(ours))),
    told("  bare npm ci on this machine, in docker run -v", `${ms(p50(here))}, ${ms(p50(inContainer))}`),
    judged("  ratio to the bare npm ci with the same image", ratio(inContainer), PREPARED_RATIO, times),
    judged("  ratio to the bare npm ci on this machine", ratio(here), PREPARED_RATIO, times),
  ];
}

/** A scripted run with a prepared environment, from intent to landed. */
async function landed(): Promise<Row[]> {
  const instance = `bench-landed-${process.pid}`;
  const stack = await startStack({ env: { ANTIPHON_INSTANCE: instance } });
  const repositories: Generated[] = [];
  const found = new Map<string, { beyond: number[]; own: number[] }>();
  try {
    for (const name of Object.keys(LANDED_S))
      repositories.push(generate(SIZES[name] ?? { label: "", files: 1, ...SMALL }));
    // One repository after the other, as people work: warm sandboxes hold the tree that was worked on last.
    for (const { path, label } of repositories) {
      for (let round = -3; round < LANDED_ROUNDS; round += 1) {
        const agent = { kind: "scripted", commands: [`${FIX} && echo // ${round} >> app.js`] };
        await pooled(instance);
        const { seconds, records } = await landedRun(stack, { repo: path, agent, checks: [CHECK] });
        if (round < 0) continue; // The first runs fill the caches that a used installation has.
        const own = checkSeconds(records);
        const one = found.get(label) ?? { beyond: [], own: [] };
        found.set(label, { beyond: [...one.beyond, seconds - own], own: [...one.own, own] });
      }
    }
  } finally {
    await stack.stop();
    for (const repository of repositories) repository.remove();
  }
  return Object.entries(LANDED_S).flatMap(([name, goal]) => {
    const { label = name } = SIZES[name] ?? {};
    const { beyond = [], own = [] } = found.get(label) ?? {};
    return [
      judged(`${label}: intent to landed, beyond the check's own time, p50`, p50(beyond), goal, seconds),
      told("  the check's own time, once", seconds(p50(own))),
    ];
  });
}

/** A branch that moves by one file before each run. */
async function moved(): Promise<Row[]> {
  const size = SIZES["100000"] ?? { label: "", files: 1, ...SMALL };
  const runs = await movedBases(size);
  const of = (some: readonly MovedRun[], what: keyof MovedRun): number => p50(some.map((run) => run[what]));
  const told3 = (some: readonly MovedRun[]): string =>
    (["dispatched", "command", "landed"] as const).map((what) => seconds(of(some, what))).join(", ");
  return [
    told(`${size.label}: base moved by one file; dispatch, first command, landed, p50`, told3(runs.moved)),
    told("  the same base again", told3(runs.same)),
    told("  stored for the moved base", mib(of(runs.moved, "stored"))),
  ];
}

/** How long the check took when it ran with the change for the first time. */
function checkSeconds(records: readonly SeenRecord[]): number {
  const verdict = records.findLast(({ type }) => type === "verdict");
  const checks = (verdict?.body["checks"] ?? []) as readonly { readonly durationMs: number }[];
  return checks.reduce((sum, { durationMs }) => sum + durationMs, 0) / 1000;
}

async function changes(): Promise<Row[]> {
  const test = testEngine("bench-changes");
  try {
    const collected = await changesOut(test, 100_000);
    return [judged("changed files out of 100,000, p50", p50(collected), CHANGES_MS, ms)];
  } finally {
    await test.expectNoContainers(20_000);
    await test.removeLayers();
  }
}

async function memory(): Promise<Row[]> {
  const test = testEngine("bench-memory");
  try {
    const { sandboxes, further, environment, copies } = await memoryOfMany(test);
    const figure = `memory of ${sandboxes} sandboxes that read one environment of ${mib(environment)}`;
    const value = `${mib(further)} for each further one`;
    const isMet = copies === 1 && further < environment / (4 * sandboxes);
    const disk = told("  copies of it on the engine's disk meanwhile", String(copies));
    return [{ figure, value, goal: "one copy", isMet }, disk];
  } finally {
    await test.expectNoContainers(20_000);
    await test.removeLayers();
  }
}

async function large(): Promise<Row[]> {
  const { files, seconds: took, peaks } = await largeTree();
  const label = `4 GiB in ${files.toLocaleString("en")} files`;
  return [
    told(`${label}: intent to landed, the first run`, seconds(took[0])),
    told(`${label}: intent to landed, the second run`, seconds(took[1])),
    ...[...peaks].map(([name, peak]) => told(`  most memory of ${name}`, `${peak} MiB`)),
  ];
}

function judged(figure: string, value: number, most: number, unit: (value: number) => string): Row {
  return { figure, value: unit(value), goal: `<= ${unit(most)}`, isMet: value <= most };
}

function atLeast(figure: string, value: number, least: number): Row {
  return { figure, value: times(value), goal: `>= ${least}x`, isMet: value >= least };
}

function told(figure: string, value: string): Row {
  return { figure, value, goal: "", isMet: null };
}

function p50(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}

const ms = (value: number): string => `${value.toFixed(value < 100 ? 1 : 0)} ms`;
const seconds = (value: number): string => `${value.toFixed(2)} s`;
const times = (value: number): string => `${value.toFixed(2)}x`;
const mib = (bytes: number): string => `${(bytes / 2 ** 20).toFixed(0)} MiB`;
