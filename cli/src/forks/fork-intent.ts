// The intent of a fork: the forked run's own, from the commit of the event, with the tasks that were not done by then. Pure.
import type { AgentSpec, Feedback, Intent, IntentBody, TaskSpec } from "@antiphon/contracts";
import { withAnsweredChecks } from "@antiphon/contracts/plans/answered-checks";
import { INHERITED_BUDGETS } from "@antiphon/contracts/runs/fork";
import { pastTask } from "../bakeoff/past-task.ts";
import { usage } from "../failure.ts";
import type { ForkedAt } from "./fork-point.ts";

export interface Changed {
  /** A person's word for the attempt. */
  readonly feedback: string | null;
  /** Null: the agent of then. */
  readonly agent: AgentSpec | null;
  readonly modelUsdMicro: number | null;
}

/** @throws Failure ANT_USAGE */
export function forkIntent(body: IntentBody, at: ForkedAt, changed: Changed): Intent {
  const { fork, base, done } = at;
  if (changed.agent !== null && fork.calls > 0)
    throw usage(
      "the recorded answers are those that another agent or model was given",
      `with --agent or --model, begin at the attempt: --at ${fork.task}:${fork.epoch}`,
    );
  const agent = changed.agent ?? at.agent;
  // A question that was answered is not asked again: the fork's caller takes the answer for a check of its own.
  const options = withAnsweredChecks(body.options, at.answered);
  const past = { ...body, options, base: { ...body.base, commit: base } };
  const again = pastTask(past, agent, changed.modelUsdMicro);
  if (again === null)
    throw usage(
      "the run is a brief: it had no repository, so it has no commit to go on from",
      "start it again with its goal; it reads the connectors anew",
    );
  const { approvals } = body.intent.constraints;
  const tasks = options.tasks?.filter(({ id }) => !done.includes(nameOf(id)));
  const inherited = INHERITED_BUDGETS.filter(
    (budget) =>
      again.constraints[budget] !== undefined &&
      (budget !== "model_budget" || changed.modelUsdMicro === null),
  );
  return {
    ...again,
    inputs: {
      ...again.inputs,
      ...(tasks === undefined ? {} : { tasks: tasks.map((task) => leftOf(task, at, changed.agent)) }),
      fork: {
        ...fork,
        feedback: [...fork.feedback, ...wordOf(fork.epoch, changed.feedback)].slice(-20),
        ...(inherited.length === 0 ? {} : { inherited }),
      },
    },
    constraints: {
      ...again.constraints,
      ...(approvals === undefined ? {} : { approvals }),
    },
  };
}

/** A task that is still to be done, without the dependencies that were done. The forked one gets the other agent. */
function leftOf(task: TaskSpec, { fork, done }: ForkedAt, other: AgentSpec | null): TaskSpec {
  const { agent, ...rest } = task;
  const isForked = nameOf(task.id) === fork.task;
  const keeps = agent === undefined || (isForked && other !== null) ? {} : { agent };
  return {
    ...rest,
    ...keeps,
    dependencies: task.dependencies.filter((id) => !done.includes(nameOf(id))),
  };
}

/** As the Router names the tasks of a run. */
function nameOf(id: number): string {
  return `T-${String(id).padStart(3, "0")}`;
}

function wordOf(epoch: number, text: string | null): Feedback[] {
  if (text === null) return [];
  return [{ epoch: Math.max(1, epoch - 1), code: "ANT_TASK_CHANGES_ASKED", message: text, checks: [] }];
}
