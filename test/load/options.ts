/** What `npm run load` takes from its command line. */
import { parseArgs } from "node:util";

export interface LoadOptions {
  readonly runs: number;
  /** Runs under way at the same time; not used in the open loop. */
  readonly concurrency: number;
  /** Runs started per second whatever becomes of them (open loop); null: closed loop. */
  readonly rate: number | null;
  /** Tasks of a run, one after the other. */
  readonly steps: number;
  readonly associates: number;
  readonly directors: number;
  /** 1, or 3: a cluster whose streams have three copies. */
  readonly servers: 1 | 3;
  readonly agent: "noop" | "scripted";
  readonly sandbox: "none" | "docker";
  /** `journal`: the gateway's intake code in the load client, without HTTP. `gateway`: its process, over HTTP. */
  readonly via: "journal" | "gateway";
  /** Records each Director, and attempts each Associate, has under way at the same time. */
  readonly slots: number;
  /** Kill a random service process this often, in seconds. */
  readonly killEvery: number | null;
  /** Measure the bounds on the same server after the run. */
  readonly bounds: boolean;
  /** Runs before the measured ones, for the compilers and the caches. */
  readonly warmup: number;
  /** Directory for a CPU profile of each service process; null: none. */
  readonly profile: string | null;
  readonly json: boolean;
}

export const USAGE = `usage: npm run load -- [--runs 2000] [--concurrency 256] [--associates 1] [--directors 1] [--servers 1|3]
  [--agent noop|scripted] [--sandbox none|docker] [--via journal|gateway] [--rate <runs/s>: open loop]
  [--steps 1|5] [--slots 256] [--kill-every <s>] [--no-bounds] [--warmup 500] [--profile <dir>] [--json]`;

export function readOptions(args: readonly string[]): LoadOptions {
  const { values } = parseArgs({
    args: [...args],
    options: {
      runs: { type: "string", default: "2000" },
      concurrency: { type: "string", default: "256" },
      rate: { type: "string" },
      steps: { type: "string", default: "1" },
      associates: { type: "string", default: "1" },
      directors: { type: "string", default: "1" },
      servers: { type: "string", default: "1" },
      agent: { type: "string", default: "noop" },
      sandbox: { type: "string", default: "none" },
      via: { type: "string" },
      slots: { type: "string", default: "256" },
      "kill-every": { type: "string" },
      "no-bounds": { type: "boolean", default: false },
      warmup: { type: "string" },
      profile: { type: "string" },
      json: { type: "boolean", default: false },
    },
  });
  const sandbox = oneOf("sandbox", values.sandbox, ["none", "docker"]);
  const docker = sandbox === "docker";
  return {
    runs: whole("runs", values.runs, 1_000_000),
    concurrency: whole("concurrency", values.concurrency, 20_000),
    rate: values.rate === undefined ? null : whole("rate", values.rate, 20_000),
    steps: whole("steps", values.steps, 64),
    associates: whole("associates", values.associates, 16),
    directors: whole("directors", values.directors, 16),
    servers: oneOf("servers", values.servers, ["1", "3"]) === "3" ? 3 : 1,
    agent: oneOf("agent", values.agent, ["noop", "scripted"]),
    sandbox,
    via: oneOf("via", values.via ?? (docker ? "gateway" : "journal"), ["journal", "gateway"]),
    slots: whole("slots", values.slots, 1024),
    killEvery: values["kill-every"] === undefined ? null : whole("kill-every", values["kill-every"], 600),
    bounds: !values["no-bounds"] && !docker,
    warmup: values.warmup === undefined ? (docker ? 2 : 500) : whole("warmup", values.warmup, 100_000, 0),
    profile: values.profile ?? null,
    json: values.json,
  };
}

function whole(name: string, text: string, most: number, least = 1): number {
  const value = Number(text);
  if (Number.isInteger(value) && value >= least && value <= most) return value;
  throw new RangeError(`--${name} ${text}: not a whole number from ${least} to ${most}\n${USAGE}`);
}

function oneOf<T extends string>(name: string, text: string, allowed: readonly T[]): T {
  const found = allowed.find((one) => one === text);
  if (found !== undefined) return found;
  throw new RangeError(`--${name} ${text}: not one of ${allowed.join(", ")}\n${USAGE}`);
}
