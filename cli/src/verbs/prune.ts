// antiphon prune: deletes the branches antiphon/<runId> that a repository no longer needs. Without --yes it only lists them.
//
// A branch that is deleted by mistake can be made again: the commit is in the run's records (`antiphon get`), and git keeps
// it for some weeks.
import { runPages } from "../runs/run-pages.ts";
import { examples } from "../context.ts";
import type { AddVerb, CliContext } from "../context.ts";
import { usage } from "../failure.ts";
import type { Decision } from "../prune/prune-plan.ts";

interface PruneFlags {
  readonly repo?: string;
  readonly olderThan?: string;
  readonly yes?: boolean;
  readonly json?: boolean;
}

export const addPrune: AddVerb = (program, context) => {
  program
    .command("prune")
    .summary("delete branches of ended runs that are merged, or old; without --yes, list them only")
    .option("--repo <path>", "the git repository (default: the one around the current directory)")
    .option("--older-than <span>", "also branches that are not merged, above this age: 12h, 30d")
    .option("--yes", "delete them")
    .option("--json", "print one JSON object")
    .addHelpText("after", examples(["antiphon prune", "antiphon prune --older-than 30d --yes"]))
    .action(async (flags: PruneFlags) => {
      await prune(context, flags);
    });
};

async function prune(context: CliContext, flags: PruneFlags): Promise<void> {
  const { repositoryOf } = await import("../runs/repository-place.ts");
  const { spanMs } = await import("../runs/run-lines.ts");
  const { prunePlan } = await import("../prune/prune-plan.ts");
  const { deleteBranch, runBranches } = await import("../prune/run-branches.ts");
  const olderThanMs = flags.olderThan === undefined ? null : spanMs(flags.olderThan);
  if (flags.olderThan !== undefined && olderThanMs === null)
    throw usage(`--older-than takes a span such as 12h or 30d, not ${JSON.stringify(flags.olderThan)}`);
  const repo = repositoryOf(flags.repo);
  const branches = await runBranches(repo);
  const ended = await endedRuns(context, new Set(branches.map(({ runId }) => runId)));
  const decisions = prunePlan(branches, { olderThanMs }, ended, Date.now());
  const chosen = decisions.filter(({ kind }) => kind === "delete");
  if (flags.yes === true) for (const { branch } of chosen) await deleteBranch(repo, branch);
  if (flags.json === true) return context.screen.json({ repo, deleted: flags.yes === true, decisions });
  show(context, decisions, flags.yes === true);
}

/** Whether each run has ended. Without a gateway that is unknown, and nothing may be deleted. */
async function endedRuns(context: CliContext, wanted: ReadonlySet<string>): Promise<Map<string, boolean>> {
  const ended = new Map<string, boolean>();
  if (wanted.size === 0) return ended;
  for await (const runs of runPages(await context.gateway())) {
    for (const { runId, endedAt } of runs) if (wanted.has(runId)) ended.set(runId, endedAt !== null);
    if (ended.size === wanted.size) break;
  }
  return ended;
}

function show({ screen }: CliContext, decisions: readonly Decision[], deleted: boolean): void {
  for (const { kind, branch, why } of decisions) {
    const mark = kind === "keep" ? "keep  " : deleted ? "gone  " : "delete";
    screen.out(`${mark}  antiphon/${branch.runId}  ${branch.commit.slice(0, 10)}  ${why}`);
  }
  const count = decisions.filter(({ kind }) => kind === "delete").length;
  if (count === 0) screen.out("no branch to delete");
  else if (!deleted) screen.err(`${count} would be deleted; delete them with: antiphon prune --yes`);
}
