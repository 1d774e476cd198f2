/**
 * One simulated world: the services, the server, a repository, a caller and the faults. The seed alone determines
 * it.
 *
 *   plan (from the seed) -> runs start while faults happen -> heal -> every run ends -> history
 */
import { AntiphonError, type StoredBytes } from "@antiphon/contracts";
import type { History } from "../../chaos/checker/history.ts";
import { installAmbient } from "../ambient.ts";
import { Chance } from "../chance.ts";
import type { Mishap } from "../mishap.ts";
import { SimNode } from "../node.ts";
import { Broker } from "../server/broker.ts";
import { Timeline } from "../timeline.ts";
import { drawFaults, healedMs, strike, type Fault, type Ground, type Service } from "./faults.ts";
import { Journalist } from "./journalist.ts";
import { drawRuns, type RunPlan } from "./run-plan.ts";
import { boot, type Surroundings } from "./services.ts";
import { SimClient } from "./sim-client.ts";
import { SimGit } from "./sim-repository.ts";
import { provisionModel } from "./topology.ts";
import { traceLog } from "./trace-log.ts";

export interface WorldPlan {
  runs: RunPlan[];
  faults: Fault[];
  /** Processes of each service. */
  fleet: Record<Service, number>;
  healMs: number;
  /** As with ANTIPHON_PROBED_LEASES=on. */
  probedLeases: boolean;
}

export interface WorldReport {
  plan: WorldPlan;
  history: History;
  /** The journal as it was stored, byte by byte. */
  messages: readonly StoredBytes[];
  trace: readonly string[];
  /** Forbidden to every service at any time: an unhandled rejection, a dead letter. */
  accidents: readonly string[];
  virtualMs: number;
  steps: number;
  mishaps: ReadonlyMap<Mishap, number>;
}

/** The world continues for this long after the end of the last run, because a zombie may still act. */
const AFTERMATH_MS = 25_000;
/** I1 allows 120 s from heal, so no wait is longer. */
const PATIENCE_MS = 125_000;
const SWEEP = { everyMs: 10_000, quietMs: 15_000, patienceMs: 60_000 };

export function drawPlan(chance: Chance): WorldPlan {
  const spreadMs = chance.between(1_000, 20_000);
  const faults = drawFaults(chance, chance.between(3_000, 25_000));
  return {
    runs: drawRuns(chance, chance.int(2, 6), spreadMs),
    faults,
    fleet: {
      gateway: chance.int(1, 2),
      router: chance.int(1, 2),
      director: chance.int(1, 2),
      associate: chance.int(1, 3),
      runner: chance.int(1, 2),
    },
    healMs: Math.max(0, ...faults.map(healedMs)),
    probedLeases: chance.hit(0.5),
  };
}

/** Runs the world of a seed to its end. Call it from a macrotask: it runs microtasks itself. */
export function runWorld(seed: number, options: { traced?: boolean } = {}): WorldReport {
  const chance = new Chance(seed);
  const plan = drawPlan(chance.fork(1));
  const timeline = new Timeline();
  const world = new World(plan, timeline, chance, options.traced === true);
  const remove = installAmbient(timeline, chance.fork(2));
  const onRejection = (reason: unknown): void =>
    void world.accidents.push(
      `${timeline.current?.name ?? "-"}: unhandled ${AntiphonError.from(reason).message}`,
    );
  process.on("unhandledRejection", onRejection);
  try {
    return world.run();
  } finally {
    process.off("unhandledRejection", onRejection);
    remove();
  }
}

class World implements Ground {
  readonly accidents: string[] = [];
  readonly timeline: Timeline;
  readonly chance: Chance;
  readonly broker: Broker;
  readonly healMs: number;
  private readonly plan: WorldPlan;
  private readonly surroundings: Surroundings;
  private readonly client: SimClient;
  private readonly journalist: Journalist;
  private readonly living = new Map<Service, Set<SimNode>>();
  private started = 0;

  constructor(plan: WorldPlan, timeline: Timeline, chance: Chance, traced: boolean) {
    this.plan = plan;
    this.timeline = timeline;
    this.chance = chance;
    this.healMs = plan.healMs;
    this.broker = new Broker(timeline, chance.fork(3));
    provisionModel(this.broker.jetstream, plan.probedLeases);
    const git = new SimGit();
    this.surroundings = {
      broker: this.broker,
      git,
      files: new Map(),
      containers: [],
      chance: chance.fork(4),
      log: traceLog(timeline, traced),
      gateways: new Map(),
      sweep: SWEEP,
    };
    const node = new SimNode("client", "client", timeline, chance.fork(5));
    this.client = new SimClient({
      node,
      timeline,
      chance: chance.fork(6),
      gateways: this.surroundings.gateways,
    });
    this.journalist = new Journalist(this.surroundings, this.client.calls);
    timeline.after(0, node, () => {
      for (const story of plan.runs) void this.client.story(story);
    });
  }

  run(): WorldReport {
    const { timeline, plan } = this;
    for (const [service, count] of Object.entries(plan.fleet) as [Service, number][]) {
      for (let i = 0; i < count; i += 1) this.start(service);
    }
    for (const fault of plan.faults) timeline.after(fault.atMs, null, () => strike(fault, this));
    timeline.after(plan.healMs, null, () => this.heal());
    let stopMs = Number.POSITIVE_INFINITY;
    timeline.run(plan.healMs + PATIENCE_MS, () => {
      if (stopMs === Number.POSITIVE_INFINITY && this.isOver()) stopMs = timeline.now + AFTERMATH_MS;
      return timeline.now >= stopMs;
    });
    const history = this.journalist.history(plan.healMs, Math.max(timeline.now, plan.healMs));
    const letters = this.broker.jetstream.stream("ANT_DLQ").messages.size;
    if (letters > 0) this.accidents.push(`${letters} dead letters`);
    const { trace, steps, now, mishaps } = timeline;
    const messages = this.journalist.messages();
    return { plan, history, messages, trace, accidents: this.accidents, virtualMs: now, steps, mishaps };
  }

  nodes(service: Service): SimNode[] {
    return [...(this.living.get(service) ?? [])];
  }

  start(service: Service): void {
    this.started += 1;
    const node = new SimNode(
      `${service}-${this.started}`,
      service,
      this.timeline,
      this.chance.fork(this.started),
    );
    const living = this.living.get(service) ?? new Set();
    this.living.set(service, living.add(node));
    node.onCrash(() => living.delete(node));
    this.timeline.after(0, node, () => this.dial(node));
  }

  /** A process whose server is down waits for it, as under a supervisor. */
  private dial(node: SimNode): void {
    if (!this.broker.up) return void this.timeline.after(500, node, () => this.dial(node));
    boot(node, this.surroundings).catch((error: unknown) =>
      this.accidents.push(`${node.name}: ${String(error)}`),
    );
  }

  private heal(): void {
    this.timeline.note("healed");
    for (const living of this.living.values()) {
      for (const node of living) node.operationsLeft = Number.POSITIVE_INFINITY;
    }
  }

  private isOver(): boolean {
    return this.timeline.now >= this.healMs && this.client.busy === 0 && this.journalist.openRuns === 0;
  }
}
