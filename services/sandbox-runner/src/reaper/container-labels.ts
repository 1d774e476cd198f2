/** The labels and the name of a container, which tell people and the reaper whose it is. */
import { limits, type SandboxRequest } from "@antiphon/contracts";
import { LABELS } from "./reap-plan.ts";

export interface RunnerIdentity {
  readonly instance: string;
  readonly node: string;
  /** See ownLabel of the runtime. */
  readonly owner: string;
}

/** The facts of a job that its container's labels hold. */
export type JobWords = Pick<SandboxRequest, "run" | "task" | "epoch" | "budgetMs" | "purpose" | "spare">;

/** Time for the engine, the boot, the answers of a person and the cleaning up, on top of the job's own budget. */
const DEADLINE_GRACE_MS = 5 * 60_000 + limits.askHoldMs;

/**
 * A warm container is labelled before its job is known, and labels cannot change. Its deadline therefore allows for the
 * longest possible job, and its name tells the run as soon as there is one.
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

/** The purpose is part of the name because a verdict may have two containers at once, while an attempt has one. */
export function containerName(
  instance: string,
  job: Pick<SandboxRequest, "run" | "task" | "epoch" | "purpose"> | null,
  unique: string,
): string {
  const words = job === null ? ["warm"] : [job.run, job.task, String(job.epoch), job.purpose];
  const name = ["antiphon", instance, ...words, unique].join("-").replace(/[^A-Za-z0-9_.-]/g, "_");
  return name.slice(0, 200);
}
