/**
 * `npm run chaos -- --runs N --kills K --seed S --minutes M [--only kill,stop,nats,partition,disk,power,points]
 *   [--roles director,associate] [--docker E] [--open O] [--servers 3] [--naive]`
 *
 * Exit 0: no violation. 1: violations; their counterexamples are in .antiphon/chaos. 2: the campaign could not be run.
 */
import { parseArgs } from "node:util";
import { fileURLToPath } from "node:url";
import { startNaive } from "../naive/system.ts";
import { startAntiphon } from "./antiphon.ts";
import { runCampaign } from "./campaign.ts";
import { FAULT_KINDS, type FaultKind } from "./fault-script.ts";
import { reportLines } from "./report.ts";

const { values } = parseArgs({
  options: {
    runs: { type: "string", default: "1000" },
    kills: { type: "string", default: "30" },
    seed: { type: "string", default: String(Math.floor(Math.random() * 1_000_000)) },
    minutes: { type: "string", default: "5" },
    only: { type: "string", default: "" },
    open: { type: "string", default: "48" },
    docker: { type: "string", default: "25" },
    roles: { type: "string", default: "" },
    servers: { type: "string", default: "1" },
    naive: { type: "boolean", default: false },
  },
});

const asked = values.only.split(",");
/** Power is asked for by name: the store has one disk, which is either small or can lose its power. */
const kinds = FAULT_KINDS.filter((kind) => (values.only === "" ? kind !== "power" : asked.includes(kind)));
if (kinds.length === 0) fail(`--only takes ${FAULT_KINDS.join(", ")}`);
if (kinds.includes("power") && (kinds.includes("disk") || values.servers !== "1"))
  fail("--only power goes neither with disk nor with --servers 3");
const kills = whole("kills", values.kills);
const minutes = Number(values.minutes);

/** `--kills` scales the other kinds too, in the ratios of a long campaign. */
const RATIOS: Readonly<Record<FaultKind, number>> = {
  kill: 1,
  stop: 0.5,
  nats: 0.25,
  partition: 0.25,
  disk: 0.05,
  power: 0.2,
  points: 1.3,
};

const counts = Object.fromEntries(
  kinds.map((kind) => [kind, Math.max(1, Math.round(kills * (kinds.length === 1 ? 1 : RATIOS[kind])))]),
);

try {
  const result = await runCampaign({
    seed: whole("seed", values.seed),
    runs: whole("runs", values.runs),
    spanMs: minutes * 60_000,
    counts,
    sizes: values.naive
      ? { api: 1, worker: 4 }
      : { gateway: 2, router: 2, director: 2, associate: 3, "sandbox-runner": 2 },
    servers: whole("servers", values.servers),
    repos: 6,
    dockerEvery: values.naive ? 0 : whole("docker", values.docker),
    poison: kinds.includes("kill"),
    duplicates: 0.02,
    open: whole("open", values.open),
    roles: values.roles === "" ? null : values.roles.split(","),
    start: values.naive ? startNaive : startAntiphon,
    outDir: fileURLToPath(new URL("../../../.antiphon/chaos", import.meta.url)),
    progress: (line) => process.stdout.write(`${line}\n`),
  });
  process.stdout.write(`${reportLines(result).join("\n")}\n`);
  process.exit(result.judgement.violations.length === 0 ? 0 : 1);
} catch (error) {
  fail(error instanceof Error ? (error.stack ?? error.message) : String(error));
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
