/** What an attempt asks of a runner: the files, the steps, the network and the limits of its job. */
import { FINDINGS_FILE, QA_FILE, type SandboxRequest } from "@antiphon/contracts";
import type { Change, ChangedFile, Overlays } from "../ports.ts";
import type { JobPlan } from "./attempt.ts";
import type { AttemptOrder } from "./attempt-order.ts";
import { secretValues } from "./secret-variables.ts";

/** The part of the request that is the same for every try. */
export type Job = Omit<SandboxRequest, "jobId" | "budgetMs">;

/** Files up to this size in all are part of the request; larger changes go as a tar through the object store. */
const INLINE_BYTES = 128 * 1024;
export async function jobOf(
  order: AttemptOrder,
  overlays: Overlays,
  plan: JobPlan,
  change: Change,
): Promise<Job> {
  const { base, history } = order.dispatch;
  const inline = change.files.reduce((sum, file) => sum + file.content.length, 0) <= INLINE_BYTES;
  return {
    run: order.replay?.id ?? order.runId,
    task: order.dispatch.task.task_id,
    epoch: order.epoch,
    purpose: "attempt",
    image: order.dispatch.image,
    workspace: {
      tree: base.object,
      ...(base.linked === undefined ? {} : { linked: base.linked }),
      ...(history == null ? {} : { git: history.object }),
      files: inline ? change.files.map(inlineFile) : [],
      overlay: inline ? null : await overlays.pack(change.files),
      deletions: [...change.deletions, ...wordsOfJudges(order)],
      ...(order.dispatch.environment === undefined ? {} : { environment: order.dispatch.environment }),
    },
    steps: [...plan.steps],
    ...egressOf(order),
    ...limitsOf(order),
    ...(order.dispatch.services === undefined ? {} : { services: order.dispatch.services }),
    ...inboxOf(order),
    collect: plan.collectAfter !== null,
    ...(plan.collectAfter === null ? {} : { collectAfter: plan.collectAfter }),
  };
}

/** The files that a judge has to write. They are removed before it starts, because one in the judged tree is not its word. */
function wordsOfJudges({ dispatch: { task } }: AttemptOrder): readonly string[] {
  return task.return.artifacts.filter((path) => path === FINDINGS_FILE || path === QA_FILE);
}

/** The task's egress profile (seed 000) and the budget of its model calls. With mode `none` there is no network. */
function egressOf({ dispatch, replay, resumes, recorded = [] }: AttemptOrder): Pick<Job, "egress"> {
  const { egress_profile: profile } = dispatch.task;
  if (profile.mode === "none") return {};
  const secrets = secretValues(dispatch.env);
  const masks = secrets.length === 0 ? {} : { masks: [...secrets] };
  if (replay !== undefined) {
    const recorded = { calls: [...replay.calls], then: "stop" as const };
    return { egress: { profile, model_budget: null, checkpoints: true, ...masks, replay: recorded } };
  }
  return {
    egress: {
      profile,
      ...masks,
      model_budget: dispatch.model_budget ?? null,
      // A checkpoint holds the conversation, so a run that records no calls leaves none.
      ...(dispatch.record_calls === false ? { record: false } : { checkpoints: true }),
      ...(resumes === undefined ? {} : { resumes: resumes.newest, resumes_since: resumes.oldest }),
      ...(recorded.length === 0 ? {} : { replay: { calls: [...recorded], then: "live" as const } }),
    },
  };
}

/** A replay gives each message at the look that read it then. */
function inboxOf({ replay }: AttemptOrder): Pick<Job, "messages"> {
  const { read = [] } = replay ?? {};
  return read.length === 0
    ? {}
    : { messages: read.map(({ text, look }, i) => ({ number: i + 1, text, look })) };
}

function limitsOf({ dispatch }: AttemptOrder): Pick<Job, "limits"> {
  const { memory_mib } = dispatch;
  return memory_mib === undefined ? {} : { limits: { memoryBytes: memory_mib * 1024 * 1024 } };
}

function inlineFile({ path, mode, content }: ChangedFile): SandboxRequest["workspace"]["files"][number] {
  return { path, mode, content: content.toString("base64"), encoding: "base64" };
}
