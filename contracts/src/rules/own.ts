/** Rules of the remaining documents: plans and patches of seed 002, task contracts, evidence, sandboxes, the journal. */
import { RECORDS, type JournalRecord } from "../journal/record.ts";
import type { PlanFile } from "../plans/plan-file.ts";
import type { RunOptions } from "../runs/run-options.ts";
import type { SandboxRequest } from "../rpc/sandbox-rpc.ts";
import type { EvidenceManifest } from "../seeds/evidence-manifest.ts";
import type { Patch } from "../seeds/patch.ts";
import type { Plan } from "../seeds/plan.ts";
import type { TaskContract } from "../seeds/task-contract.ts";
import { associateResultRules, directorTaskRules } from "./director-associate.ts";
import { gitTaskRule } from "../plans/git-tasks.ts";
import { graphRules } from "./graph.ts";
import { pathRules } from "./paths.ts";
import { finalRules, initialRules } from "./router-contract.ts";
import { member, within, type Rule } from "../shapes/rule.ts";

export const planRules: readonly Rule[] = graphRules({
  name: "plan",
  path: "/nodes",
  idKey: "id",
  depsKey: "deps",
  nodes: (value) => (value as Plan).nodes,
});

export const patchRules: readonly Rule[] = pathRules({
  name: "patch",
  git: true,
  paths: (value) => (value as Patch).files.map(({ path }, i) => ({ at: `/files/${i}/path`, path })),
});

/** Files given as a map from path to content (SandboxJob, SandboxResult). */
export const fileMapRules: readonly Rule[] = pathRules({
  name: "sandbox-job",
  repeats: true, // a map cannot repeat a key
  paths: (value) =>
    Object.keys((value as { files: object }).files).map((path) => ({
      at: `/files/${path.replaceAll("~", "~0").replaceAll("/", "~1")}`,
      path,
    })),
});

type InOut = Pick<SandboxRequest["workspace"], "files" | "deletions">;

function inOutRules(name: string, at: string, part: (value: unknown) => InOut): readonly Rule[] {
  return pathRules({
    name,
    paths: (value) => {
      const { files, deletions } = part(value);
      return [
        ...deletions.map((path, i) => ({ at: `${at}/deletions/${i}`, path })),
        ...files.map(({ path }, i) => ({ at: `${at}/files/${i}/path`, path })),
      ];
    },
    repeats: true, // a path may be deleted and written again, to change its type
  });
}

export const sandboxRequestRules = inOutRules(
  "sandbox-request",
  "/workspace",
  (value) => (value as SandboxRequest).workspace,
);

export const evidenceRules: readonly Rule[] = pathRules({
  name: "evidence-manifest",
  paths: (value) =>
    (value as EvidenceManifest).files.map(({ path }, i) => ({ at: `/files/${i}/path`, path })),
});

export const taskContractRules: readonly Rule[] = [
  {
    id: "task-contract/not-its-own-dependency",
    says: "A task does not depend on itself, nor twice on another.",
    check: (value) => {
      const { id, depends_on = [] } = value as TaskContract;
      const seen = new Set([id]);
      const at = depends_on.findIndex((dep) => seen.size === seen.add(dep).size);
      if (at < 0) return null;
      const found = depends_on[at] ?? "";
      return {
        path: `/depends_on/${at}`,
        message: "a task cannot depend on itself, or twice on another",
        expected: "another task",
        found,
      };
    },
  },
];

const taskGraph = (name: string): Rule[] => {
  const nodes = (value: unknown) =>
    ((value as RunOptions | PlanFile).tasks ?? []).map(({ id, dependencies = [], ...task }) => ({
      ...task,
      id: String(id),
      deps: dependencies.map(String),
    }));
  return [
    ...graphRules({ name, path: "/tasks", idKey: "id", depsKey: "dependencies", nodes }),
    gitTaskRule(name, "/tasks", nodes),
  ];
};

export const planFileRules: readonly Rule[] = taskGraph("plan-file");

const agentPatch = (value: unknown): unknown => member(value, "agent", "patch");

export const runOptionsRules: readonly Rule[] = [
  ...taskGraph("run-options"),
  ...within("/agent/patch", patchRules, agentPatch),
];

const REGISTERS = {
  run: {
    fits: ({ taskId, epoch }: JournalRecord) => taskId === null && epoch === 0,
    is: "about the whole run",
    expected: "task null, epoch 0",
  },
  number: {
    fits: ({ taskId, epoch }: JournalRecord) => taskId === null && epoch > 0,
    is: "about the whole run, and numbered",
    expected: "task null, epoch from 1",
  },
  attempt: {
    fits: ({ taskId, epoch }: JournalRecord) => taskId !== null && epoch > 0,
    is: "about an attempt",
    expected: "a task, an epoch from 1",
  },
  either: { fits: () => true, is: "", expected: "" },
};

export const journalRules: readonly Rule[] = [
  {
    id: "journal/level",
    says: "Run-level records carry no task, and epoch 0 or, for numbered types, their number; records of an attempt carry a task and an epoch from 1.",
    check: (value) => {
      const record = value as JournalRecord;
      const { fits, is, expected } = REGISTERS[RECORDS[record.type].about];
      if (fits(record)) return null;
      const found = `task ${String(record.taskId)}, epoch ${record.epoch}`;
      return { path: "/taskId", message: `\`${record.type}\` is ${is}`, expected, found };
    },
  },
];

export const intentRecordRules: readonly Rule[] = [
  ...journalRules,
  ...within("/body/options", runOptionsRules, (value) => member(value, "body", "options")),
];

export const routedRecordRules: readonly Rule[] = [
  ...journalRules,
  ...graphRules({
    name: "routed",
    path: "/body/tasks",
    idKey: "task/task_id",
    depsKey: "deps",
    nodes: (value) =>
      (value as JournalRecord & { type: "routed" }).body.tasks.map(({ task, deps }) => ({
        id: task.task_id,
        deps,
      })),
  }),
  ...within("/body/contract", initialRules, (value) => member(value, "body", "contract")),
];

export const dispatchRecordRules: readonly Rule[] = [
  ...journalRules,
  ...within("/body/task", directorTaskRules, (value) => member(value, "body", "task")),
];

export const resultRecordRules: readonly Rule[] = [
  ...journalRules,
  ...within("/body/result", associateResultRules, (value) => member(value, "body", "result")),
];

export const closedRecordRules: readonly Rule[] = [
  ...journalRules,
  ...within("/body/contract", finalRules, (value) => member(value, "body", "contract")),
];
