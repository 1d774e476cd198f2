/** The dispatch of a task: everything an Associate needs for one attempt. */
import {
  AntiphonError,
  DEFAULT_HISTORY,
  type AgentSpec,
  type DispatchBody,
  type PlannedTask,
  type RunOptions,
} from "@antiphon/contracts";
import { intentOf, type EffectOf, type RunState } from "@antiphon/run";
import { imageOf, roomOf } from "../environments/run-room.ts";
import { decidingTree, dispatchEnvironment } from "../environments/dispatch-environment.ts";
import { baseAhead } from "../verification/base-ahead.ts";
import { checksOf } from "../verification/checks-of.ts";
import { tenantOf } from "../verification/room-request.ts";
import { requireGates } from "../verification/gates-planned.ts";
import { agentOfAttempt } from "./agent-of-attempt.ts";
import { requireOtherAgent } from "./futile-attempt.ts";
import { forkedAt } from "./forked-at.ts";
import { commitBehind, earlierTasks } from "./earlier-tasks.ts";
import { gateStart } from "./gate-dispatch.ts";
import { GATE_HISTORY, GIT_TASK_HISTORY } from "./histories.ts";
import { requireCriteria } from "./missing-criteria.ts";
import { startableChecks } from "./paid-attempt.ts";
import { withRedBase } from "./red-base.ts";
import type { VerificationPorts } from "../verification/verification.ts";

/** Rejections that a dispatch carries as feedback; older ones stay in the journal. */
const MAX_FEEDBACK = 5;

type Ports = Pick<VerificationPorts, "repository" | "environments" | "evidence"> &
  Partial<Pick<VerificationPorts, "bases">>;

export async function dispatch(
  run: RunState,
  effect: EffectOf<"dispatch">,
  { repository, environments, evidence, bases }: Ports,
  signal: AbortSignal,
): Promise<DispatchBody> {
  const body = intentOf(run);
  const { options, base, intent } = body;
  if (run.routed === null)
    throw new AntiphonError("ANT_JOURNAL_GAP", `run ${run.runId} has no routed record`);
  const { planned, feedback, answers } = effect.task;
  requireGates(planned, run.tasks, body);
  requireOtherAgent(effect.task, options);
  await requireCriteria(run, effect.task, repository);
  const { told, point } = forkedAt(effect.task, options);
  const agent = agentOfAttempt(effect.task, options);
  const { verify_profile } = planned.task;
  const isGit = planned.task.kind === "git";
  const except = planned.scope?.disallowed_files ?? [];
  const earlier = earlierTasks(effect.task, run);
  const checks = await checksOf(effect.task, base, repository, options);
  const start =
    planned.gate === undefined
      ? null
      : await gateStart(run, effect.taskId, planned.gate, { repository, evidence });
  const tip = start?.commit ?? run.head;
  const commits = commitsFor(planned, agent, options);
  const exporting = repository.exportBase(base.repo, tip);
  const preparing = decidingTree(run, planned.gate, exporting, repository).then((tree) => {
    if (environments === undefined) return null;
    const order = { ...effect, agent, image: imageOf(planned, options) };
    return dispatchEnvironment(run, order, tree, { environments, evidence }, signal);
  });
  const ahead =
    bases && start === null
      ? baseAhead(run, effect, checks, { repository, bases, prepared: preparing })
      : undefined;
  const [tree, environment, history] = await Promise.all([
    exporting,
    preparing,
    commits === 0 ? undefined : repository.exportHistory(base, tip, commits),
  ]);
  if (ahead !== undefined) await startableChecks(run, effect, ahead, evidence, signal);
  return {
    task: {
      ...planned.task,
      base_ref: isGit ? commitBehind(planned, run, base.commit) : tip,
      verify_profile: { ...verify_profile, commands: [...checks.commands] },
    },
    agent,
    intent: { goal: intent.goal },
    workflow: run.routed.workflow,
    base: tree,
    feedback: (await withRedBase([...told, ...feedback], run.routed.workflow, ahead, signal)).slice(
      -MAX_FEEDBACK,
    ),
    answers: [...answers],
    image: imageOf(planned, options),
    scope: scopeOf(planned, options.scope),
    ...(except.length > 0 ? { scope_except: except } : {}),
    grants: options.grants,
    ...roomOf(options),
    ...(options.model_budget === undefined || isGit ? {} : { model_budget: options.model_budget }),
    ...(options.continue_change === true ? { continue_change: true } : {}),
    ...(options.record_calls === undefined ? {} : { record_calls: options.record_calls }),
    ...(history === undefined ? {} : { history }),
    ...(environment === null ? {} : { environment }),
    ...(start === null ? {} : { gate: start.order }),
    ...(earlier.length === 0 ? {} : { earlier }),
    ...(point === null ? {} : { fork: point }),
    ...(agent.kind === "pack" && agent.prompt === "compile" ? { tenant: tenantOf(run) } : {}),
  };
}

/** What the agent is told. The Director holds the change to both. */
function scopeOf({ scope }: PlannedTask, ofRun: string[]): string[] {
  return scope === undefined || scope.allowed_files.length === 0 ? ofRun : scope.allowed_files;
}

/** The newest commits in the sandbox's repository; 0: it has none. */
function commitsFor(
  { gate, task }: PlannedTask,
  agent: AgentSpec,
  { history = DEFAULT_HISTORY }: Pick<RunOptions, "history">,
): number {
  if (task.kind === "git") return GIT_TASK_HISTORY;
  if (!runsPrograms(agent)) return 0;
  return gate === undefined ? history : GATE_HISTORY;
}

/** Only these can use a repository in their sandbox. */
function runsPrograms(agent: AgentSpec): boolean {
  return (
    agent.kind === "command" ||
    agent.kind === "pack" ||
    (agent.kind === "scripted" && (agent.commands ?? []).length > 0)
  );
}
