/** The command line of `npm run chaos`, as the legs that it requests. */
import { CommandLine } from "../../support/command-line.ts";
import { pointsOf } from "./crash-point-list.ts";
import { FAULT_KINDS, type FaultKind } from "./fault-script.ts";
import { fullPlan, type Leg } from "./full-plan.ts";

export interface ChaosOptions {
  readonly seed: number;
  readonly legs: readonly Leg[];
  readonly kinds: readonly FaultKind[];
  /** Legs that could not end by then are not started. */
  readonly hours: number;
  /** Processes of each role, and the roles that faults hit; null: all. */
  readonly sizes: Readonly<Record<string, number>>;
  readonly roles: readonly string[] | null;
  readonly dockerEvery: number;
  readonly open: number;
  readonly naive: boolean;
}

const PRODUCT = { gateway: 2, router: 2, director: 2, associate: 3, "sandbox-runner": 2 };
const NAIVE = { api: 1, worker: 4 };
/** `--kills` scales the other kinds too. */
const RATIOS: Readonly<Record<FaultKind, number>> = {
  kill: 1,
  stop: 0.5,
  nats: 0.25,
  partition: 0.25,
  disk: 0.05,
  engine: 0.2,
  power: 0.2,
  points: 1.3,
};
/** The options of a single leg, and their defaults. */
const LEG = { kills: "30", minutes: "5", servers: "1" } as const;

const line = new CommandLine(`
usage: npm run chaos -- [options]             the whole campaign, in legs on one server and on three
       npm run chaos -- --runs <n> [options]  one leg

  --hours 3          legs that could not end within this time are not started
  --share 1          the part of the campaign to run: 0.1 is a tenth
  --runs <n>         one leg with this number of runs
  --kills 30         its kills; the other faults scale with them
  --minutes 5        its length
  --servers 1|3      its nats-servers
  --naive            a plain work queue instead of the product, to show that the rig finds violations
  --seed <n>         determines the faults (default: random)
  --only <kinds>     of kill, stop, nats, partition, disk, engine, power, points
  --roles <roles>    processes that faults hit: gateway, router, director, associate, sandbox-runner
  --docker 25        every n-th run works in a container; 0: none
  --open 48          runs open at a time

Ctrl-C stops the faults and judges the history so far; a second Ctrl-C ends at once.
Exit 1: violations; their counterexamples are in .antiphon/chaos. 2: the campaign failed to run.

  npm run chaos -- --share 0.1 --seed 7
  npm run chaos -- --runs 400 --only power --kills 50 --minutes 8 --docker 0
`);
export function readOptions(args: readonly string[]): ChaosOptions {
  const values = line.read(
    {
      runs: { type: "string" },
      kills: { type: "string" },
      minutes: { type: "string" },
      servers: { type: "string" },
      seed: { type: "string", default: String(Math.floor(Math.random() * 1_000_000)) },
      hours: { type: "string", default: "3" },
      share: { type: "string", default: "1" },
      only: { type: "string", default: "" },
      open: { type: "string", default: "48" },
      docker: { type: "string", default: "25" },
      roles: { type: "string", default: "" },
      naive: { type: "boolean", default: false },
    },
    [...args],
  );
  const { naive } = values;
  const runs = values.runs ?? (naive ? "1000" : null);
  for (const name of Object.keys(LEG) as (keyof typeof LEG)[])
    if (runs === null && values[name] !== undefined)
      line.refuse(`--${name} goes with --runs: it is of one leg`);
  const sizes = naive ? NAIVE : PRODUCT;
  // `power` has to be named: the store has one disk, which is either small or can lose its power.
  const asked = line.someOf("only", values.only, FAULT_KINDS);
  const kinds = FAULT_KINDS.filter(
    (kind) =>
      asked.includes(kind) && (values.only !== "" || kind !== "power") && !(naive && kind === "engine"),
  );
  const { kills = LEG.kills, minutes = LEG.minutes, servers = LEG.servers } = values;
  if (kinds.includes("power") && (kinds.includes("disk") || servers !== "1" || runs === null))
    line.refuse("--only power goes with --runs, and neither with disk nor with --servers 3");
  const seed = line.whole("seed", values.seed, undefined, 0);
  const share = line.positive("share", values.share, 1);
  return {
    seed,
    legs:
      runs === null ? longPlan(seed, share, kinds) : [oneLeg(seed, runs, kinds, { kills, minutes, servers })],
    kinds,
    hours: line.positive("hours", values.hours),
    sizes,
    roles: values.roles === "" ? null : line.someOf("roles", values.roles, Object.keys(sizes)),
    dockerEvery: naive ? 0 : line.whole("docker", values.docker, undefined, 0),
    open: line.whole("open", values.open),
    naive,
  };
}

type LegText = Record<keyof typeof LEG, string>;

function longPlan(seed: number, share: number, kinds: readonly FaultKind[]): Leg[] {
  return fullPlan(seed, share, pointsOf(Object.keys(PRODUCT)).length).map((leg) => ({
    ...leg,
    counts: Object.fromEntries(kinds.map((kind) => [kind, leg.counts[kind] ?? 0])),
  }));
}

function oneLeg(seed: number, runs: string, kinds: readonly FaultKind[], text: LegText): Leg {
  const kills = line.whole("kills", text.kills, undefined, 0);
  const counts = kinds.map((kind) => [
    kind,
    Math.max(1, Math.round(kills * (kinds.length === 1 ? 1 : RATIOS[kind]))),
  ]);
  return {
    seed,
    servers: Number(line.oneOf("servers", text.servers, ["1", "3"])),
    runs: line.whole("runs", runs),
    spanMs: line.positive("minutes", text.minutes) * 60_000,
    counts: Object.fromEntries(counts) as Leg["counts"],
  };
}
