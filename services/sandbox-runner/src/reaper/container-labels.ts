/** What a container says about itself, so that people and the reaper know whose it is. */
import { limits, type SandboxRequest } from "@antiphon/contracts";
import { LABELS } from "./reap-plan.ts";

export interface RunnerIdentity {
  readonly instance: string;
  readonly node: string;
  /** See reaper/owner.ts. */
  readonly owner: string;
}

/** What a container is labelled with. */
export type JobWords = Pick<SandboxRequest, "run" | "task" | "epoch" | "budgetMs" | "purpose">;

/** For the engine, the boot and the tidying around the job's own budget. */
const DEADLINE_GRACE_MS = 5 * 60_000;

/**
 * A warm container is labelled before anybody knows its job, and labels cannot change: its deadline allows for the
 * longest job there is, and its name tells the run once there is one.
 */
export function containerLabels(
  identity: RunnerIdentity,
  job: JobWords | null,
  fromMs: number,
): Readonly<Record<string, string>> {
  const budgetMs = job?.budgetMs ?? limits.taskTimeBudgetMaxS * 1000;
  return {
    [LABELS.instance]: identity.instance,
    [LABELS.node]: identity.node,
    [LABELS.owner]: identity.owner,
    [LABELS.deadline]: String(Math.round(fromMs + budgetMs + DEADLINE_GRACE_MS)),
    [LABELS.run]: job?.run ?? "",
    [LABELS.task]: job?.task ?? "",
    [LABELS.epoch]: job === null ? "" : String(job.epoch),
  };
}

/** A clean room is told from the attempt it judges: an attempt has one container at a time, a verdict may have two. */
export function containerName(
  instance: string,
  job: Pick<SandboxRequest, "run" | "task" | "epoch" | "purpose"> | null,
  unique: string,
): string {
  const words = job === null ? ["warm"] : [job.run, job.task, String(job.epoch), job.purpose];
  const name = ["antiphon", instance, ...words, unique].join("-").replace(/[^A-Za-z0-9_.-]/g, "_");
  return name.slice(0, 200);
}
