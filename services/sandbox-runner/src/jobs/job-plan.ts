/**
 * The plan of a job: its limits, and the stages to perform in the sandbox, as data. A request that no sandbox could
 * carry out is refused here, before anything is fetched or taken.
 *
 *   lay       the prepared environment, if the request names one
 *   fill      the workspace: tree, deletions, overlay, files
 *   connect   the network, if the request has a grant for one
 *   serve     the services, if the request names some
 *   run       one command; each step of the request is a stage
 *   collect   the changes, after the step `collectAfter` or at the end
 *   repeat    all commands again, for a job of trials (trials.ts)
 *
 * How to add to a job:
 *   - Work in the sandbox is a stage: add its data to `Stage`, its place to `stagesOf`, and its case to `perform` in
 *     job.ts, where the compiler asks for it.
 *   - Work that decides what sandbox to take (an image, something to mount) is a line of `prepare` in
 *     prepared-job.ts, and its result is a field of `PreparedJob`, which all stages see.
 */
import {
  AntiphonError,
  type EgressGrant,
  type SandboxRequest,
  type SandboxStep,
  type SandboxTrials,
} from "@antiphon/contracts";
import { encodeStep } from "../conversation/step-script.ts";
import { jobLimits, type JobLimits } from "../job-limits.ts";
import type { ContainerLimits, Remembering } from "../ports.ts";
import { stepDirectory } from "../workspace/path-rule.ts";
import { Refusal } from "../workspace/refusal.ts";

export type PlannedStep = SandboxStep & {
  /** Absolute inside the sandbox. */
  readonly cwd: string;
  /** The changes are collected after it, so its time limit must leave the sandbox alive. */
  readonly isCollected: boolean;
};

export type Stage =
  | { readonly kind: "lay" }
  | { readonly kind: "fill"; readonly remembering: Remembering }
  | { readonly kind: "connect"; readonly grant: EgressGrant }
  | { readonly kind: "serve" }
  | { readonly kind: "run"; readonly step: PlannedStep }
  | { readonly kind: "collect" }
  | { readonly kind: "repeat"; readonly trials: SandboxTrials; readonly steps: readonly PlannedStep[] };

export interface JobPlan {
  readonly limits: JobLimits;
  /** The job decides a verdict: code under test must not be able to forge its result. */
  readonly needsSeal: boolean;
  readonly stages: readonly Stage[];
}

export function planJob(request: SandboxRequest, defaults: ContainerLimits): JobPlan {
  const stages = stagesOf(request);
  const needsSeal = request.purpose === "verify" || request.purpose === "base";
  if (needsSeal && stages.some(({ kind }) => kind === "connect"))
    throw new AntiphonError("ANT_SANDBOX_REFUSED", "a job for a verdict has no network");
  return { needsSeal, stages, limits: jobLimits(defaults, request) };
}

function stagesOf({
  purpose,
  workspace,
  steps,
  collect,
  collectAfter,
  egress,
  trials,
  services = [],
}: SandboxRequest): Stage[] {
  if ((purpose === "prepare") !== (steps.length === 0))
    throw new AntiphonError("ANT_SANDBOX_REFUSED", "a job has steps, unless it only prepares an environment");
  if (purpose === "prepare") return [];
  const hint = collect ? "hint" : "nothing";
  const stages: Stage[] = [{ kind: "fill", remembering: trials === undefined ? hint : "exact" }];
  if (workspace.environment !== undefined) stages.unshift({ kind: "lay" });
  if (egress !== undefined && egress.profile.mode !== "none") stages.push({ kind: "connect", grant: egress });
  if (services.length > 0) stages.push({ kind: "serve" });
  const planned = steps.map(planStep);
  const last = steps.findIndex(({ id }) => id === collectAfter);
  const before = last === -1 ? planned.length : last + 1;
  const runs = planned.map((step, i): Stage => {
    return { kind: "run", step: { ...step, isCollected: collect && i < before } };
  });
  return [
    ...stages,
    ...runs.slice(0, before),
    ...(collect ? [{ kind: "collect" } as const] : []),
    ...runs.slice(before),
    ...(trials === undefined ? [] : [{ kind: "repeat", trials, steps: planned } as const]),
  ];
}

function planStep(step: SandboxStep): PlannedStep {
  const { id, argv, env } = step;
  if (encodeStep("perl", { argv, cwd: "/workspace", env }) === null)
    throw new AntiphonError(
      "ANT_SANDBOX_REFUSED",
      `step ${id}: a NUL in an argument, or an invalid variable name`,
    );
  try {
    return { ...step, cwd: stepDirectory(step.cwd), isCollected: false };
  } catch (error) {
    if (error instanceof Refusal) throw new AntiphonError("ANT_SANDBOX_PATH", `step ${id}: ${error.message}`);
    throw error;
  }
}
