/**
 * `npm run chaos`: the whole campaign in legs on one server and on three, at most `--hours 3`.
 * `npm run chaos -- --share 0.1`: a part of it.
 * `npm run chaos -- --runs N [--kills K] [--minutes M] [--servers 3] [--naive]`: one leg of so many runs; `--kills`
 *   scales the other faults too.
 * Either takes `--seed S`, `--only kill,stop,nats,partition,disk,power,points`, `--roles director,associate`, `--docker E`
 * (one run in so many works in a container), `--open O`.
 *
 * Ctrl-C ends the torture and judges what was done so far; a second one ends at once.
 * Exit 0: no violation. 1: violations; their counterexamples are in .antiphon/chaos. 2: the campaign could not be run.
 */
import { join } from "node:path";
import { parseArgs } from "node:util";
import { fileURLToPath } from "node:url";
import { startNaive } from "../naive/system.ts";
import { startAntiphon } from "./antiphon.ts";
import { runCampaign } from "./campaign.ts";
import { pointsOf } from "./crash-point-list.ts";
import { FAULT_KINDS, type FaultKind } from "./fault-script.ts";
import { fullPlan, type Leg } from "./full-plan.ts";
import { runLegs, sumLines } from "./legs.ts";
import { reportLines } from "./report.ts";

const { values } = parseArgs({
  options: {
    runs: { type: "string" },
    kills: { type: "string", default: "30" },
    seed: { type: "string", default: String(Math.floor(Math.random() * 1_000_000)) },
    minutes: { type: "string", default: "5" },
    hours: { type: "string", default: "3" },
    share: { type: "string", default: "1" },
    only: { type: "string", default: "" },
    open: { type: "string", default: "48" },
    docker: { type: "string", default: "25" },
    roles: { type: "string", default: "" },
    servers: { type: "string", default: "1" },
    naive: { type: "boolean", default: false },
  },
});

const OUT = fileURLToPath(new URL("../../../.antiphon/chaos", import.meta.url));
const SIZES = values.naive
  ? { api: 1, worker: 4 }
  : { gateway: 2, router: 2, director: 2, associate: 3, "sandbox-runner": 2 };
/** `--kills` scales the other kinds too. */
const RATIOS: Readonly<Record<FaultKind, number>> = {
  kill: 1,
  stop: 0.5,
  nats: 0.25,
  partition: 0.25,
  disk: 0.05,
  power: 0.2,
  points: 1.3,
};

const asked = values.only.split(",");
/** Power is asked for by name: the store has one disk, which is either small or can lose its power. */
const kinds = FAULT_KINDS.filter((kind) => (values.only === "" ? kind !== "power" : asked.includes(kind)));
if (kinds.length === 0) fail(`--only takes ${FAULT_KINDS.join(", ")}`);
if (
  kinds.includes("power") &&
  (kinds.includes("disk") || values.servers !== "1" || values.runs === undefined)
)
  fail("--only power goes with --runs, and neither with disk nor with --servers 3");
const seed = whole("seed", values.seed);
const legs = values.runs === undefined && !values.naive ? longPlan() : [oneLeg(values.runs ?? "1000")];

const stop = new AbortController();
process.once("SIGINT", () => {
  process.stdout.write("\nno more faults; what was done so far is judged (once more: end at once)\n");
  stop.abort();
});

try {
  const verdicts = await runLegs(legs, {
    stop: stop.signal,
    untilMs: Date.now() + Number(values.hours) * 3_600_000,
    file: join(OUT, `${seed}-campaign.json`),
    told: (result) => process.stdout.write(`${reportLines(result).join("\n")}\n`),
    run: (leg) =>
      runCampaign({
        ...leg,
        sizes: SIZES,
        repos: 6,
        dockerEvery: values.naive ? 0 : whole("docker", values.docker),
        poison: kinds.includes("kill"),
        duplicates: 0.02,
        open: whole("open", values.open),
        roles: values.roles === "" ? null : values.roles.split(","),
        start: values.naive ? startNaive : startAntiphon,
        outDir: OUT,
        progress: (line) => process.stdout.write(`${line}\n`),
        stop: stop.signal,
      }),
  });
  if (legs.length > 1) process.stdout.write(`${sumLines(legs.length, verdicts).join("\n")}\n`);
  process.exit(verdicts.every(({ violations }) => Object.keys(violations).length === 0) ? 0 : 1);
} catch (error) {
  fail(error instanceof Error ? (error.stack ?? error.message) : String(error));
}

function longPlan(): Leg[] {
  const share = Number(values.share);
  if (!(share > 0 && share <= 1)) fail(`--share takes a number up to 1, not ${JSON.stringify(values.share)}`);
  return fullPlan(seed, share, pointsOf(Object.keys(SIZES)).length).map((leg) => ({
    ...leg,
    counts: Object.fromEntries(kinds.map((kind) => [kind, leg.counts[kind] ?? 0])),
  }));
}

function oneLeg(runs: string): Leg {
  const kills = whole("kills", values.kills);
  const counts = kinds.map((kind) => [
    kind,
    Math.max(1, Math.round(kills * (kinds.length === 1 ? 1 : RATIOS[kind]))),
  ]);
  return {
    seed,
    servers: whole("servers", values.servers),
    runs: whole("runs", runs),
    spanMs: Number(values.minutes) * 60_000,
    counts: Object.fromEntries(counts) as Leg["counts"],
  };
}

function whole(name: string, text: string): number {
  const value = Number(text);
  if (!Number.isInteger(value) || value < 0)
    fail(`--${name} takes a whole number, not ${JSON.stringify(text)}`);
  return value;
}

function fail(why: string): never {
  process.stderr.write(`${why}\n`);
  process.exit(2);
}
