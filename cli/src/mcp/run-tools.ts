// The tools that start, list, show, watch and cancel runs.
import { RUN_FLAGS } from "@antiphon/contracts/runs/run-options";
import { z } from "zod";
import { onlyPatchOf } from "../evidence/run-patches.ts";
import { usage } from "../failure.ts";
import { filterOf } from "../runs/run-filter.ts";
import { localProblem, repositoryOf } from "../runs/repository-place.ts";
import { loadFiles } from "../runs/run-files.ts";
import { STATUSES } from "../runs/run-lines.ts";
import { listRuns } from "../runs/run-pages.ts";
import { loadPlan, namesRun } from "../runs/plan-source.ts";
import { readSummary } from "../runs/read-summary.ts";
import { intentOf } from "../runs/run-request.ts";
import { startRun } from "../runs/start-run.ts";
import { patchIn, runFlagsOf, runShape } from "./run-input.ts";
import { ACTS, answering, DECIDES, inputOf, READS, RUN_ID, UNTRUSTED, type AddTool } from "./tool.ts";
import { watchRun } from "./watch-run.ts";

/** The gateway's own bound; filters look at this many runs. */
const MOST_RUNS = 1_000;
const LONGEST_WAIT_S = 3_600;
/** A canceled run stops within seconds; then its state is told as it is. */
const STOP_S = 30;

export const addStartRun: AddTool = (server, context) => {
  const described = {
    title: "Start a run",
    description:
      "Carries out an intent on a git repository: an agent (or a given patch) changes it in a sandbox, the checks run in a clean room, and a verified, signed commit lands on the branch antiphon/<run id>. Returns the run id at once; follow it with wait_for_run. Name an agent, commands, a program, a patch or a plan.",
    inputSchema: inputOf(runShape(RUN_FLAGS)),
    annotations: ACTS,
  };
  const start = async (given: Record<string, unknown>): Promise<Record<string, unknown>> => {
    const {
      goal = "",
      repo,
      patch,
      plan: named,
    } = given as Record<"goal" | "repo" | "patch" | "plan", string | undefined>;
    const repoPath = repositoryOf(repo, context.directory);
    const problem = localProblem(context.config.gatewayUrl, repoPath, repo);
    if (problem !== null) throw problem;
    await context.ensureGateway();
    const flags = runFlagsOf(RUN_FLAGS, given);
    const ofRun =
      patch !== undefined && namesRun(patch) ? await onlyPatchOf(await context.gateway(), patch) : null;
    const { patch: _text, plan: _plan, ...others } = flags;
    const files = await loadFiles(others, context.packs, ofRun ?? patchIn(patch));
    const plan = named === undefined ? null : await loadPlan(named, () => context.gateway());
    const words = goal.trim() === "" ? (plan?.goal ?? "") : goal;
    if (words === "") throw usage("the goal is empty", "say in words what the run is to reach");
    const intent = intentOf(words, repoPath, flags, { ...files, plan });
    return { runId: await startRun(await context.gateway(), intent, null) };
  };
  server.registerTool("start_run", described, answering(start));
};

export const addListRuns: AddTool = (server, context) => {
  const described = {
    title: "List runs",
    description: `Lists runs, newest first. ${UNTRUSTED}`,
    inputSchema: inputOf({
      status: z.enum(STATUSES).optional().describe("Only runs in this status; open: not ended."),
      repo: z.string().optional().describe("Only runs of this repository."),
      since: z.string().optional().describe("Only runs that began after a time: 2h, 7d, 2026-01-31."),
      limit: z.number().int().min(1).max(MOST_RUNS).default(20),
    }),
    annotations: READS,
  };
  server.registerTool(
    "list_runs",
    described,
    answering(async ({ status, repo, since, limit }) => {
      const given = { ...(status && { status }), ...(repo && { repo }), ...(since && { since }) };
      const filter = filterOf(given);
      const gateway = await context.gateway();
      return { ...(await listRuns(gateway, filter, limit)) };
    }),
  );
};

export const addGetRun: AddTool = (server, context) => {
  const described = {
    title: "Show a run",
    description: `The state of a run: its tasks with attempts and verdicts, the landed commit, open questions and approvals. Signatures of decisions are verified. ${UNTRUSTED}`,
    inputSchema: inputOf({ run: RUN_ID }),
    annotations: READS,
  };
  server.registerTool(
    "get_run",
    described,
    answering(async ({ run }) => ({
      ...(await readSummary(await context.gateway(), context.config.directorKeys, run)),
    })),
  );
};

export const addWaitForRun: AddTool = (server, context) => {
  const described = {
    title: "Wait for a run",
    description: `Waits until a run has ended or needs a person, or until the time is over, and tells its state as get_run does. Reports progress meanwhile. ${UNTRUSTED}`,
    inputSchema: inputOf({
      run: RUN_ID,
      seconds: z.number().int().min(1).max(LONGEST_WAIT_S).default(300).describe("How long to wait at most."),
    }),
    annotations: READS,
  };
  server.registerTool("wait_for_run", described, (input, extra) => {
    const token = extra._meta?.progressToken;
    let told = 0;
    const onLine = (message: string): void => {
      if (token === undefined) return;
      const params = { progressToken: token, progress: (told += 1), message };
      // A client that is gone needs no progress; the answer itself tells of a broken connection.
      extra.sendNotification({ method: "notifications/progress", params }).catch(() => undefined);
    };
    const wait = answering(({ run, seconds }: typeof input, signal: AbortSignal) =>
      forSeconds(seconds, signal, (until) => watchRun(context, run, { signal: until, onLine })),
    );
    return wait(input, extra);
  });
};

export const addCancelRun: AddTool = (server, context) => {
  const described = {
    title: "Cancel a run",
    description:
      "Stops a run, and tells its state when it has stopped. Landed changes stay; nothing more lands.",
    inputSchema: inputOf({ run: RUN_ID, reason: z.string().max(2_000).describe("Why, for the record.") }),
    annotations: DECIDES,
  };
  server.registerTool(
    "cancel_run",
    described,
    answering(async ({ run, reason }, signal) => {
      await (await context.gateway()).post("/runs/{id}/events", { id: run }, { event: "cancel", reason });
      return forSeconds(STOP_S, signal, (until) =>
        watchRun(context, run, { signal: until, onLine: () => undefined, untilEnd: true }),
      );
    }),
  );
};

/** A timer holds the controller: a timeout signal that only `AbortSignal.any` knows may be collected before its time. */
async function forSeconds<T>(
  seconds: number,
  signal: AbortSignal,
  work: (until: AbortSignal) => Promise<T>,
): Promise<T> {
  const late = new AbortController();
  const timer = setTimeout(() => late.abort(), seconds * 1_000);
  try {
    return await work(AbortSignal.any([signal, late.signal]));
  } finally {
    clearTimeout(timer);
  }
}
