/**
 * The time that Antiphon adds to a real agent: a pack from its registry, whose model is a server on loopback that answers at
 * once. The agent notes when its process begins and ends, by the clock that sandbox and services share.
 */
import { execFileSync } from "node:child_process";
import { startAgentStack } from "../e2e/support/agent-stack.ts";
import { landedRun } from "./landed-run.ts";

const PACK = "pi";
const MARK = "agent's own";
/** Its own time is a few milliseconds, so that no start of a program of the user counts as ours. */
const CHECK = "grep -q 'a + b' add.js";
/** The first word is the name of the script. */
const NOTED = ["sh", "-c", 'date +%s%N > begun; "$@"; code=$?; date +%s%N > ended; exit $code', MARK];

export interface PackTimes {
  readonly pack: string;
  /** In seconds, one for each run. */
  readonly own: readonly number[];
  /** From claim to result, without the agent's own time. */
  readonly attempt: readonly number[];
  /** From the request to the landed commit, without the agent's own time. */
  readonly whole: readonly number[];
}

export async function packRuns(files: Readonly<Record<string, string>>, runs: number): Promise<PackTimes> {
  const agents = await startAgentStack();
  try {
    const { stack } = agents;
    const project = agents.project(files);
    const { body } = await stack.http("GET", `/agents/${PACK}`);
    const agent = body["agent"] as Readonly<Record<string, unknown>>;
    const noted = { ...agent, argv: [...NOTED, ...(agent["argv"] as string[])] };
    const times = { own: [] as number[], attempt: [] as number[], whole: [] as number[] };
    for (let i = -2; i < runs; i += 1) {
      const { runId, seconds, records } = await landedRun(
        stack,
        { repo: project.path, agent: noted, checks: [CHECK] },
        { model_budget: { usd_micro: 2_000_000 } },
      );
      if (i < 0) continue; // The first installs the pack; these fill the caches that a used installation has.
      const at = (name: string): number => {
        const args = ["-C", project.path, "show", `antiphon/${runId}:${name}`];
        return Number(execFileSync("git", args, { encoding: "utf8" })) / 1e9;
      };
      const of = (type: string): number =>
        Date.parse(records.find((record) => record.type === type)?.at ?? "") / 1000;
      const own = at("ended") - at("begun");
      times.own.push(own);
      times.attempt.push(of("result") - of("claim") - own);
      times.whole.push(seconds - own);
    }
    return { pack: PACK, ...times };
  } finally {
    await agents.stop();
  }
}
