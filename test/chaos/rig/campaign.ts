/**
 * One campaign: starts a system, gives it work and injects the faults of a script. Then everything is healed, the client waits
 * for its answers, the system is drained, and the checker judges the whole history.
 */
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { check, tally, type Judgement } from "../checker/check.ts";
import type { History } from "../checker/history.ts";
import { ENDS_WITHIN_MS } from "../checker/i1-ending.ts";
import { makeRepo } from "../../support/repo.ts";
import { mountPowerDisk } from "../power-loss/power-disk.ts";
import { watchBounds } from "./bounds-witness.ts";
import { Client } from "./client.ts";
import { duplicateDeliveries } from "./duplicates.ts";
import { faultScript, type Fault, type FaultPlan } from "./fault-script.ts";
import { Injector, type Injected } from "./injector.ts";
import { Load, type LoadOptions } from "./load.ts";
import { seeded } from "./random.ts";
import type { System, SystemOptions } from "./system.ts";
import { POISON } from "./workload.ts";

export interface CampaignOptions {
  readonly seed: number;
  readonly runs: number;
  readonly spanMs: number;
  readonly counts: FaultPlan["counts"];
  readonly sizes: SystemOptions["sizes"];
  /** Members of the server's cluster. */
  readonly servers: number;
  readonly repos: number;
  readonly dockerEvery: number;
  readonly poison: boolean;
  /** Share of deliveries that are made twice. */
  readonly duplicates: number;
  readonly open: number;
  /** Faults hit only processes of these roles; null: all. */
  readonly roles: readonly string[] | null;
  readonly start: (options: SystemOptions) => Promise<System>;
  /** The directory for a violation's history and counterexamples; null: none. */
  readonly outDir: string | null;
  readonly progress: (line: string) => void;
  /** Skips the remaining faults and work; the history so far is judged. Absent: never. */
  readonly stop?: AbortSignal;
}

export interface CampaignResult {
  readonly seed: number;
  readonly history: History;
  readonly judgement: Judgement;
  readonly injected: Injected;
  readonly duplicates: number;
  readonly deaths: number;
  readonly runs: number;
  readonly tasks: number;
  readonly ends: ReadonlyMap<string, number>;
  readonly settledMs: number;
  readonly totalMs: number;
  readonly peaks: readonly string[];
  readonly undrained: readonly string[];
  /** The invariants it was judged by; null: all. */
  readonly judgedBy: System["judgedBy"];
}

const PROGRESS_MS = 5_000;

export async function runCampaign(options: CampaignOptions): Promise<CampaignResult> {
  const began = Date.now();
  const dir = mkdtempSync(join(tmpdir(), "antiphon-chaos-"));
  const power = (options.counts.power ?? 0) > 0 ? await mountPowerDisk({ mebibytes: POWER_MIB }) : null;
  const repos = Array.from({ length: options.repos }, (_, index) => {
    const { path, head } = makeRepo();
    return { path: power === null ? path : movedTo(join(power.path, `repo-${index}`), path), base: head };
  });
  await power?.sync();
  const partitionable = (options.counts.partition ?? 0) > 0 ? PARTITIONABLE : [];
  const system = await options.start({
    seed: options.seed,
    dir,
    sizes: options.sizes,
    partitionable,
    diskMebibytes: (options.counts.disk ?? 0) > 0 && options.servers === 1 ? DISK_MIB : null,
    power,
    servers: options.servers,
    poison: options.poison ? POISON : "",
    repos,
  });
  try {
    return await torture(system, options, repos, began);
  } finally {
    await system.drain();
    await system.remove();
    for (const { path } of repos) rmSync(path, { recursive: true, force: true });
    rmSync(dir, { recursive: true, force: true });
    await power?.remove();
  }
}

function movedTo(place: string, path: string): string {
  cpSync(path, place, { recursive: true });
  rmSync(path, { recursive: true, force: true });
  return place;
}

const PARTITIONABLE = ["associate", "director", "router", "sandbox-runner", "worker"];
const DISK_MIB = 192;
const POWER_MIB = 1_024;

async function torture(
  system: System,
  options: CampaignOptions,
  repos: readonly { path: string; base: string }[],
  began: number,
): Promise<CampaignResult> {
  const client = new Client(system.urls);
  const load = new Load(system, client, loadOptions(options, repos), seeded(options.seed + 1));
  const injector = new Injector(system);
  const bounds = watchBounds(system, () => load.open);
  const bus = await system.broker.connect({ name: "chaos-duplicates", unsafeDurability: true });
  const duplicates = duplicateDeliveries(bus, options.duplicates, seeded(options.seed + 2));
  const script = scriptFor(system, options);
  let over = false;
  const stop = options.stop ?? new AbortController().signal;
  const faults = injector.play(script, stop).finally(() => (over = true));
  const ticker = setInterval(
    () => options.progress(progressLine(began, load, injector, script)),
    PROGRESS_MS,
  );
  try {
    await Promise.all([faults, load.drive(() => over, stop)]);
    duplicates.stop();
    const healedMs = Date.now();
    options.progress(`${seconds(began)} healed; ${load.open} runs open`);
    await load.settle(ENDS_WITHIN_MS + 2_000);
    const endedMs = Date.now();
    const final = new AbortController();
    for (const runId of load.accepted.keys()) await client.look(runId, final.signal);
    clearInterval(ticker);
    bounds.stop();
    const undrained = await system.drain();
    const collected = await system.collect(client.calls);
    const history: History = {
      ...{ healedMs, endedMs, calls: client.calls, ...collected, bounds: bounds.samples },
      faults: [...injector.injected.lasting, ...system.victims.flatMap(({ killed }) => killed)],
      poisonous: load.poisonous,
    };
    const judgement = check(history, system.judgedBy === null ? {} : { only: system.judgedBy });
    if (options.outDir !== null && judgement.violations.length > 0) save(options, system, history, judgement);
    return {
      seed: options.seed,
      history,
      judgement,
      injected: injector.injected,
      duplicates: duplicates.count(),
      deaths: system.victims.reduce((sum, victim) => sum + victim.deaths, 0),
      runs: load.accepted.size,
      tasks: load.tasks,
      ends: endsOf(history),
      settledMs: endedMs - healedMs,
      totalMs: Date.now() - began,
      peaks: [...bounds.peaks().values()].map(
        ({ what, value, bound, unit }) => `${what} ${value} of ${bound} ${unit}`,
      ),
      undrained,
      judgedBy: system.judgedBy,
    };
  } finally {
    clearInterval(ticker);
    bounds.stop();
  }
}

function loadOptions(options: CampaignOptions, repos: readonly { path: string }[]): LoadOptions {
  const workload = {
    repos: repos.map(({ path }) => path),
    dockerEvery: options.dockerEvery,
    poison: options.poison,
  };
  return { seed: options.seed, runs: options.runs, workload, open: options.open, submitters: 6 };
}

function scriptFor(system: System, { seed, spanMs, counts, roles }: CampaignOptions): Fault[] {
  const targets = system.victims.filter(({ spec }) => roles?.includes(spec.role) !== false);
  return faultScript({
    seed,
    spanMs,
    counts,
    processes: targets.map(({ spec }) => spec.name),
    partitionable: targets.filter(({ spec }) => spec.namespace !== null).map(({ spec }) => spec.name),
  });
}

function progressLine(began: number, load: Load, injector: Injector, script: readonly Fault[]): string {
  const done = [...injector.injected.counts.values()].reduce((sum, count) => sum + count, 0);
  const rate = load.ended.size / ((Date.now() - began) / 1000);
  return `${seconds(began)} ${load.accepted.size} runs accepted, ${load.open} open, ${rate.toFixed(1)} runs/s, ${done} of ${script.length} faults`;
}

function seconds(began: number): string {
  return `[${((Date.now() - began) / 1000).toFixed(0).padStart(4)} s]`;
}

function endsOf(history: History): Map<string, number> {
  const ends = new Map<string, number>();
  for (const record of history.records) {
    if (record.type !== "closed") continue;
    const end = record.body.code === null ? record.body.status : `${record.body.status} ${record.body.code}`;
    ends.set(end, (ends.get(end) ?? 0) + 1);
  }
  return ends;
}

/** Writes the files that explain a violation: counterexamples, history, logs of the processes. */
function save(options: CampaignOptions, system: System, history: History, judgement: Judgement): void {
  if (options.outDir === null) return;
  mkdirSync(options.outDir, { recursive: true });
  for (const { spec } of system.victims)
    cpSync(spec.logFile, join(options.outDir, `${options.seed}-${spec.name}.log`));
  const write = (name: string, value: unknown): void =>
    writeFileSync(
      join(options.outDir ?? "", `${options.seed}-${name}.json`),
      `${JSON.stringify(value, null, 1)}\n`,
    );
  write("violations", {
    tally: Object.fromEntries(tally(judgement.violations)),
    violations: judgement.violations,
  });
  write("history", history);
}
