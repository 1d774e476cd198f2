/**
 * What the task of a PLAN or REVIEW run delivered: a plan, or findings. The file is the agent's word, so it is read here
 * again: a plan must be one that can run, and a finding counts only if its quote is in the reviewed tree (director/D4).
 */
import {
  deliverableOf,
  FINDINGS_FILE,
  layout,
  PLAN_FILE,
  planDocuments,
  planProblemText,
  readPlanText,
  reviewMarkdown,
  reviewOf,
  reviewResult,
  reviewSentence,
  validateDocument,
  type Findings,
  type Review,
} from "@antiphon/contracts";
import { intentOf, type EffectOf, type RunState } from "@antiphon/run";
import type { RepositoryPort, TextFile, VerdictEvidencePort } from "../ports.ts";

export type Delivery =
  | { kind: "delivered"; says: string; files: readonly TextFile[] }
  | { kind: "refused"; code: string; message: string };

interface Ports {
  repository: Pick<RepositoryPort, "texts">;
  evidence: Pick<VerdictEvidencePort, "artifact">;
}

/** Null: the task delivers nothing but its change. */
export async function deliveryOf(
  run: RunState,
  { task, taskId, phase }: EffectOf<"verify">,
  { repository, evidence }: Ports,
): Promise<Delivery | null> {
  const due = run.routed === null ? null : deliverableOf(run.routed.workflow, task.planned.task);
  if (due === null) return null;
  const code = due.kind === "plan" ? "ANT_PLAN_INVALID" : "ANT_REVIEW_INVALID";
  const found = phase.report.artifacts?.find(({ path }) => path === due.file);
  if (found === undefined)
    return { kind: "refused", code, message: `the agent wrote no ${due.file}; ${due.criterion}` };
  const text = (await evidence.artifact(found.blob)).toString("utf8");
  if (due.kind === "plan") return planDelivery(text, code);
  const { base, intent } = intentOf(run);
  const review = await readReview(text, (paths) => repository.texts(base.repo, run.head, paths));
  if (typeof review === "string") return { kind: "refused", code, message: review };
  const about = { runId: run.runId, taskId, goal: intent.goal, commit: run.head };
  const folder = layout.skillResults(run.runId);
  return {
    kind: "delivered",
    says: reviewSentence(review),
    files: [
      { path: `${folder}/reviewer.json`, text: json(reviewResult(review, about)) },
      { path: `${folder}/reviewer.md`, text: reviewMarkdown(review, intent.goal) },
    ],
  };
}

/** A review of the files that `texts` reads; a text: why there is none. */
export async function readReview(
  text: string,
  texts: (paths: readonly string[]) => Promise<ReadonlyMap<string, string>>,
): Promise<Review | string> {
  const check = validateDocument(text, { filename: FINDINGS_FILE, schema: "Findings" });
  if (!check.ok) return firstProblem(FINDINGS_FILE, check.errors);
  const { findings } = check.value as Findings;
  return reviewOf(findings, await texts([...new Set(findings.map(({ file }) => file))])); // director/D4
}

export function firstProblem(
  file: string,
  [first]: readonly Parameters<typeof planProblemText>[1][],
): string {
  return first === undefined ? `${file} is not valid` : planProblemText(file, first);
}

function planDelivery(text: string, code: string): Delivery {
  const read = readPlanText(text, PLAN_FILE);
  if (!read.ok) return { kind: "refused", code, message: planProblemText(PLAN_FILE, read.problem) };
  const { taskPlan, plan } = planDocuments(read.plan);
  const { length } = read.plan.tasks;
  return {
    kind: "delivered",
    says: `a plan of ${length} ${length === 1 ? "task" : "tasks"}`,
    files: [
      { path: `plan/${PLAN_FILE}`, text },
      { path: "plan/TaskPlan.json", text: json(taskPlan) },
      { path: "plan/Plan.v0.json", text: json(plan) },
    ],
  };
}

const json = (value: unknown): string => `${JSON.stringify(value, null, 2)}\n`;
