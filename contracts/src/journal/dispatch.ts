/** `dispatch`: the Director hands out an attempt. The record is the work item. */
import { Type } from "typebox";
import { Feedback } from "./check-outcome.ts";
import { EnvironmentSpec } from "../rpc/environment.ts";
import { CommitId, TaskId } from "../shapes/ids.ts";
import { HistoryRef, TreeRef } from "../shapes/refs.ts";
import { AgentSpec } from "../runs/agents.ts";
import { ForkPoint } from "../runs/fork.ts";
import { GateOrder } from "../runs/skill-gates.ts";
import { ModelBudget, RunVariables } from "../runs/run-options.ts";
import { Services, type ServiceSpec } from "../settings/service-spec.ts";
import { closed, nullable } from "../shapes/shape.ts";
import { DirectorTask, TaskKind } from "../seeds/director-task.ts";
import { Workflow } from "../seeds/router-contract.ts";

export const Answer = closed({ question: Type.String(), answer: Type.String() });
export type Answer = { question: string; answer: string };

export const EarlierTask = closed(
  {
    task: TaskId,
    epoch: Type.Integer({
      minimum: 1,
      description: "Its attempt that counts; the evidence says what it did.",
    }),
    kind: TaskKind,
    commit: CommitId,
  },
  {
    description:
      "A finished task that a task depends on, and the commit it landed as; if it changed nothing, the one it started from.",
  },
);
export type EarlierTask = { task: string; epoch: number; kind: TaskKind; commit: string };

export const DispatchBody = closed(
  {
    task: DirectorTask,
    agent: AgentSpec,
    intent: closed({ goal: Type.String({ minLength: 1 }) }),
    workflow: Workflow,
    base: TreeRef,
    feedback: Type.Array(Feedback, { maxItems: 20, description: "Oldest first." }),
    answers: Type.Array(Answer, { maxItems: 64 }),
    image: nullable(Type.String({ minLength: 1 }), {
      description: "Sandbox image; null: the runner's default.",
    }),
    scope: Type.Array(Type.String({ minLength: 1 }), {
      description: "Globs of paths it may change. Empty: all.",
    }),
    grants: Type.Array(Type.String({ minLength: 1 }), {
      description: "Globs of protected paths it may change.",
    }),
    scope_except: Type.Optional(
      Type.Array(Type.String({ minLength: 1 }), {
        description: "Globs of paths that it must not change, also in its scope. Absent: none.",
      }),
    ),
    model_budget: Type.Optional(ModelBudget),
    continue_change: Type.Optional(
      Type.Boolean({ description: "True: it starts from the change of the attempt before. Default: false." }),
    ),
    record_calls: Type.Optional(
      Type.Boolean({ description: "False: its model calls are not recorded. Default: true." }),
    ),
    history: Type.Optional(
      nullable(HistoryRef, {
        description: "The repository in the sandbox. Absent: there is to be none; null: it does not fit.",
      }),
    ),
    environment: Type.Optional(EnvironmentSpec),
    env: Type.Optional(RunVariables),
    memory_mib: Type.Optional(Type.Integer({ minimum: 64, description: "Memory of the sandbox, in MiB." })),
    services: Type.Optional(Services),
    gate: Type.Optional(GateOrder),
    earlier: Type.Optional(
      Type.Array(EarlierTask, {
        maxItems: 32,
        description: "What it depends on, in the order of the plan, the last ones. Absent: nothing.",
      }),
    ),
    fork: Type.Optional(ForkPoint),
    tenant: Type.Optional(
      Type.String({
        minLength: 1,
        description: "Whose sessions may answer an agent that compiles. Absent: the agent does not compile.",
      }),
    ),
  },
  {
    description: "An attempt was dispatched. Written by the Director; `verify_profile.commands` is resolved.",
  },
);
export type DispatchBody = {
  task: DirectorTask;
  agent: AgentSpec;
  intent: { goal: string };
  workflow: Workflow;
  base: TreeRef;
  feedback: Feedback[];
  answers: Answer[];
  image: string | null;
  scope: string[];
  grants: string[];
  /** Globs of paths that it must not change, also in its scope. */
  scope_except?: string[];
  /** Of the whole run; if absent, model calls are refused. */
  model_budget?: ModelBudget;
  /** True: it starts from the change of the attempt before. */
  continue_change?: boolean;
  /** False: its model calls are not recorded. */
  record_calls?: boolean;
  /** The repository in the sandbox. Absent: there is to be none; null: it does not fit. */
  history?: HistoryRef | null;
  /** The prepared environment of the tree; absent: it needs none. */
  environment?: EnvironmentSpec;
  /** Variables of the agent and its checks. */
  env?: Record<string, string>;
  /** Memory of the sandbox; absent: the runner's default. */
  memory_mib?: number;
  /** Services beside the agent and its checks; absent: none. */
  services?: ServiceSpec[];
  /** The change that the task judges. Absent: it does work of its own. */
  gate?: GateOrder;
  /** What it depends on, in the order of the plan, the last ones. Absent: nothing. */
  earlier?: EarlierTask[];
  /** The attempt of another run that it begins again. Absent: it is no fork. */
  fork?: ForkPoint;
  /** Whose sessions may answer an agent that compiles. Absent: it does not compile. */
  tenant?: string;
};
