/** The faults of a world: drawn from the seed as data, and carried out. */
import type { Chance } from "../chance.ts";
import type { Kind, SimNode } from "../node.ts";
import type { Broker } from "../server/broker.ts";
import { FAIR } from "../server/broker.ts";
import type { Timeline } from "../timeline.ts";

export type Service = Exclude<Kind, "client" | "server">;

export type Fault = { atMs: number } & (
  | { kind: "crash"; service: Service; backMs: number }
  /** It crashes before its n-th operation from then on. */
  | { kind: "crash-at"; service: Service; operations: number; backMs: number }
  | { kind: "pause"; service: Service; forMs: number }
  | { kind: "disconnect"; service: Service; forMs: number }
  | { kind: "slow"; service: Service; byMs: number; forMs: number }
  | { kind: "clock"; service: Service; byMs: number }
  | { kind: "storm"; forMs: number; lose: number; repeat: number; latencyMs: number }
  | { kind: "server-restart"; forMs: number }
  | { kind: "server-pause"; forMs: number }
);

const SERVICES: readonly Service[] = [
  "associate",
  "associate",
  "director",
  "director",
  "router",
  "gateway",
  "runner",
];
const KINDS: readonly Fault["kind"][] = [
  "crash",
  "crash-at",
  "crash-at",
  "crash-at",
  "pause",
  "pause",
  "disconnect",
  "slow",
  "clock",
  "storm",
  "storm",
  "server-restart",
  "server-pause",
];

export function drawFaults(chance: Chance, withinMs: number): Fault[] {
  if (chance.hit(0.1)) return []; // A world without faults, in which nothing may be retried.
  const kinds = chance.hit(0.5) ? KINDS : [chance.pick(KINDS)];
  const count = chance.int(1, 10);
  return Array.from({ length: count }, () =>
    drawFault(chance, chance.pick(kinds), chance.between(0, withinMs)),
  ).sort((a, b) => a.atMs - b.atMs);
}

function drawFault(chance: Chance, kind: Fault["kind"], atMs: number): Fault {
  const service = chance.pick(SERVICES);
  switch (kind) {
    case "crash":
      return { kind, atMs, service, backMs: chance.between(10, 12_000) };
    case "crash-at":
      return { kind, atMs, service, operations: chance.int(1, 25), backMs: chance.between(10, 12_000) };
    case "pause":
      return { kind, atMs, service, forMs: chance.between(100, 20_000) };
    case "disconnect":
      return { kind, atMs, service, forMs: chance.between(20, 10_000) };
    case "slow":
      return { kind, atMs, service, byMs: chance.between(10, 1_500), forMs: chance.between(500, 10_000) };
    case "clock":
      return { kind, atMs, service, byMs: chance.between(-3_600_000, 3_600_000) };
    case "storm": {
      const lose = chance.pick([0, 0.02, 0.1, 0.3]);
      const repeat = chance.pick([0, 0.05, 0.2]);
      return {
        kind,
        atMs,
        forMs: chance.between(500, 8_000),
        lose,
        repeat,
        latencyMs: chance.between(1, 400),
      };
    }
    case "server-restart":
      return { kind, atMs, forMs: chance.between(50, 6_000) };
    case "server-pause":
      return { kind, atMs, forMs: chance.between(50, 12_000) };
  }
}

/** The time at which the fault and its repair are over. */
export function healedMs(fault: Fault): number {
  if ("backMs" in fault) return fault.atMs + fault.backMs;
  if ("forMs" in fault) return fault.atMs + fault.forMs;
  return fault.atMs;
}

export interface Ground {
  timeline: Timeline;
  chance: Chance;
  broker: Broker;
  /** Living processes of a service. */
  nodes(service: Service): SimNode[];
  start(service: Service): void;
  /** The time by which everything is repaired. */
  healMs: number;
}

export function strike(fault: Fault, ground: Ground): void {
  const { timeline, chance, broker } = ground;
  timeline.note(`fault ${JSON.stringify(fault)}`);
  switch (fault.kind) {
    case "storm": {
      timeline.mishap("storm");
      const { lose, repeat, latencyMs } = fault;
      broker.weather = { loseRequests: lose, loseAnswers: lose, repeatRequests: repeat, latencyMs };
      timeline.after(fault.forMs, null, () => (broker.weather = FAIR));
      return;
    }
    case "server-restart":
      timeline.mishap("server restarted");
      return broker.restart(fault.forMs);
    case "server-pause":
      timeline.mishap("server paused");
      return broker.node.pause(fault.forMs);
    default: {
      const nodes = ground.nodes(fault.service);
      if (nodes.length > 0) strikeNode(fault, chance.pick(nodes), ground);
    }
  }
}

function strikeNode(fault: Extract<Fault, { service: Service }>, node: SimNode, ground: Ground): void {
  const { timeline, broker } = ground;
  const connection = [...broker.connections].find((one) => one.node === node);
  const restart = (backMs: number): void =>
    node.onCrash(() => {
      const leftMs = Math.max(0, ground.healMs - timeline.now);
      timeline.after(Math.min(backMs, leftMs), null, () => ground.start(fault.service));
    });
  switch (fault.kind) {
    case "crash":
      if (node.operationsLeft !== Number.POSITIVE_INFINITY) return; // Its crash is planned already.
      restart(fault.backMs);
      timeline.mishap("crash of a process");
      return node.crash();
    case "crash-at":
      if (node.operationsLeft !== Number.POSITIVE_INFINITY) return;
      restart(fault.backMs);
      node.operationsLeft = fault.operations;
      return;
    case "pause":
      timeline.mishap("pause of a process");
      return node.pause(fault.forMs);
    case "disconnect":
      timeline.mishap("connection lost");
      connection?.lose();
      return connection?.redial(fault.forMs);
    case "slow":
      if (connection === undefined) return;
      timeline.mishap("slow reader");
      connection.slowMs = fault.byMs;
      timeline.after(fault.forMs, null, () => (connection.slowMs = 0));
      return;
    case "clock":
      timeline.mishap("clock turned");
      node.wallOffsetMs = fault.byMs;
      return;
  }
}
