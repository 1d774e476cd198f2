/** The command line of `npm run load`. */
import { CommandLine } from "../support/command-line.ts";

export interface LoadOptions {
  readonly runs: number;
  /** Concurrent runs; not used in the open loop. */
  readonly concurrency: number;
  /** Runs started per second regardless of their progress (open loop); null: closed loop. */
  readonly rate: number | null;
  /** Tasks of a run, one after the other. */
  readonly steps: number;
  readonly associates: number;
  readonly directors: number;
  /** 1, or 3: a cluster whose streams have three copies. */
  readonly servers: 1 | 3;
  /** Streams the journal is spread over. */
  readonly partitions: number;
  readonly agent: "noop" | "scripted";
  readonly sandbox: "none" | "docker";
  /** `journal`: the gateway's intake code in the load client, without HTTP. `gateway`: its process, over HTTP. */
  readonly via: "journal" | "gateway";
  /** Concurrent records of each Director and concurrent attempts of each Associate. */
  readonly slots: number;
  /** Kill a random service process this often, in seconds. */
  readonly killEvery: number | null;
  /** Leases of attempts end early if the holder is gone, as with ANTIPHON_PROBED_LEASES=on. */
  readonly probedLeases: boolean;
  /** Measure the bounds on the same server after the run. */
  readonly bounds: boolean;
  /** CPU milliseconds that a run may cost in all processes together; null: any. */
  readonly maxCpuMs: number | null;
  /** Runs before the measured ones, for the compilers and the caches. */
  readonly warmup: number;
  /** Directory for a CPU profile of each service process; null: none. */
  readonly profile: string | null;
  readonly json: boolean;
}

const line = new CommandLine(`
usage: npm run load -- [options]
       npm run load -- sse --help    many readers of event streams instead of many runs

  --runs 2000             runs that are measured
  --warmup 500            runs before them, to warm up compilers and caches
  --steps 1               tasks of a run, one after the other, up to 64
  --concurrency 256       concurrent runs (closed loop)
  --rate <runs/s>         runs started per second regardless of their progress (open loop)
  --associates 1          processes of each kind, up to 16
  --directors 1
  --slots 256             concurrent records of each Director and attempts of each Associate
  --servers 1|3           3: a cluster whose streams have three copies
  --partitions 1          streams of the journal, up to 64
  --agent noop|scripted   the work of an attempt
  --sandbox none|docker   the place of that work
  --via journal|gateway   journal: the gateway's intake in the load client, without HTTP (default without docker)
  --kill-every <s>        kills a random service process this often, and measures how long its runs waited
  --unprobed-leases       as with ANTIPHON_PROBED_LEASES=off; not for docker
  --max-cpu <ms>          exit 1 when a run costs more CPU, all processes together
  --no-bounds             do not measure the server's own limits afterwards
  --profile <directory>   a CPU profile of each service
  --json                  the report as JSON

Exit 1 when a run was lost, doubled or failed, or cost more than --max-cpu.

  npm run load -- --runs 5000 --steps 5
  npm run load -- --rate 200 --runs 4000 --no-bounds
  npm run load -- --sandbox docker --agent scripted --runs 50 --concurrency 4
`);

export function readOptions(args: readonly string[]): LoadOptions {
  const values = line.read(
    {
      runs: { type: "string", default: "2000" },
      concurrency: { type: "string", default: "256" },
      rate: { type: "string" },
      steps: { type: "string", default: "1" },
      associates: { type: "string", default: "1" },
      directors: { type: "string", default: "1" },
      servers: { type: "string", default: "1" },
      partitions: { type: "string", default: "1" },
      agent: { type: "string", default: "noop" },
      sandbox: { type: "string", default: "none" },
      via: { type: "string" },
      slots: { type: "string", default: "256" },
      "kill-every": { type: "string" },
      "max-cpu": { type: "string" },
      "unprobed-leases": { type: "boolean", default: false },
      "no-bounds": { type: "boolean", default: false },
      warmup: { type: "string" },
      profile: { type: "string" },
      json: { type: "boolean", default: false },
    },
    [...args],
  );
  const sandbox = line.oneOf("sandbox", values.sandbox, ["none", "docker"]);
  const docker = sandbox === "docker";
  return {
    runs: line.whole("runs", values.runs, 1_000_000),
    concurrency: line.whole("concurrency", values.concurrency, 20_000),
    rate: values.rate === undefined ? null : line.whole("rate", values.rate, 20_000),
    steps: line.whole("steps", values.steps, 64),
    associates: line.whole("associates", values.associates, 16),
    directors: line.whole("directors", values.directors, 16),
    servers: line.oneOf("servers", values.servers, ["1", "3"]) === "3" ? 3 : 1,
    partitions: line.whole("partitions", values.partitions, 64),
    agent: line.oneOf("agent", values.agent, ["noop", "scripted"]),
    sandbox,
    via: line.oneOf("via", values.via ?? (docker ? "gateway" : "journal"), ["journal", "gateway"]),
    slots: line.whole("slots", values.slots, 1024),
    killEvery:
      values["kill-every"] === undefined ? null : line.whole("kill-every", values["kill-every"], 600),
    maxCpuMs: values["max-cpu"] === undefined ? null : line.positive("max-cpu", values["max-cpu"]),
    probedLeases: !values["unprobed-leases"],
    bounds: !values["no-bounds"] && !docker,
    warmup:
      values.warmup === undefined ? (docker ? 2 : 500) : line.whole("warmup", values.warmup, 100_000, 0),
    profile: values.profile ?? null,
    json: values.json,
  };
}
