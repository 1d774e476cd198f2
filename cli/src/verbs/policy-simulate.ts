// antiphon policy simulate: which past runs a policy would refuse, before it is stored.
import { readFile } from "node:fs/promises";
import type { Command } from "commander";
import type { SimulatedRun } from "@antiphon/client";
import type { PolicyConfig } from "@antiphon/contracts";
import { examples, type CliContext } from "../context.ts";
import { Failure, usage } from "../failure.ts";
import { filterFlags, filterOf } from "../runs/run-filter.ts";
import { listRuns } from "../runs/run-pages.ts";
import { printList } from "../screen/list.ts";

interface SimulateFlags {
  readonly runs: string;
  readonly policy?: string;
  readonly json?: boolean;
}

/** Bounds of the gateway: runs of one list, and of one request. */
const AT_ONCE = 100;

export function addSimulate(policy: Command, context: CliContext): void {
  policy
    .command("simulate")
    .summary("show which past runs a policy would have refused")
    .description(
      "Judges the newest 1,000 runs by their options, requester, repository and changed paths. Nothing is stored. The number of changed lines is not on record, so `maxLinesPerCommit` is not tried.",
    )
    .option("--runs <filter>", "which runs: all, or status=...,repo=...,since=7d", "all")
    .option("--policy <file>", "a PolicyConfig as JSON; default: the policy that the deployment has stored")
    .option("--json", "print one JSON object")
    .addHelpText(
      "after",
      examples([
        "antiphon policy simulate --policy tighter.json --runs since=7d",
        "antiphon policy simulate --runs status=succeeded,repo=.",
      ]),
    )
    .action(async (flags: SimulateFlags) => {
      await simulate(context, flags);
    });
}

async function simulate(
  context: CliContext,
  { runs: text, policy: file, json }: SimulateFlags,
): Promise<void> {
  const filter = filterOf(filterFlags(text));
  const policy = file === undefined ? {} : { policy: await policyIn(file) };
  const gateway = await context.gateway();
  const { runs: known } = await listRuns(gateway, filter, Number.POSITIVE_INFINITY);
  const ids = known.flatMap(({ runId, status }) => (status === "corrupt" ? [] : [runId]));
  const runs: SimulatedRun[] = [];
  for (let at = 0; at < ids.length; at += AT_ONCE) {
    const request = { runs: ids.slice(at, at + AT_ONCE), ...policy };
    runs.push(...(await gateway.post("/policy/simulate", {}, request)).runs);
  }
  const refused = runs.filter(({ refusal }) => refusal !== null);
  const { screen } = context;
  if (json === true) return screen.json({ judged: runs.length, refused: refused.length, runs });
  if (refused.length > 0) {
    const rows = refused.map(({ runId, principal, repo, refusal }) =>
      [runId, principal, repo, refusal?.profile, refusal?.rule, refusal?.value].map(String),
    );
    printList(screen, ["RUN", "BY", "REPOSITORY", "PROFILE", "RULE", "VALUE"], rows);
  }
  screen.out(`${refused.length} of ${runs.length} runs would be refused`);
}

/** The gateway judges what the file holds. */
async function policyIn(file: string): Promise<PolicyConfig> {
  const text = await readFile(file, "utf8").catch((error: unknown) => {
    throw usage(`--policy: ${(error as Error).message}`);
  });
  try {
    return JSON.parse(text) as PolicyConfig;
  } catch (error) {
    throw new Failure("ANT_POLICY_INVALID", `${file} is not JSON: ${(error as Error).message}`);
  }
}
