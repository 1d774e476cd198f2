/**
 * Reads the file that a task delivers: a plan (PLAN), findings (REVIEW) or a brief (no repository). The file is the agent's word,
 * so it is judged here: a plan must be one that can run, and a finding counts only if its quote is in the reviewed tree (director/D4).
 */
import {
  AntiphonError,
  BRIEF_FILE,
  briefMarkdown,
  briefOutputOf,
  briefResult,
  briefSentence,
  ENTRIES_FILE,
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
  validate,
  validateDocument,
  type DocumentProblem,
  type Brief,
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
  const code = CODES[due.kind];
  const found = phase.report.artifacts?.find(({ path }) => path === due.file);
  if (found === undefined)
    return { kind: "refused", code, message: `the agent wrote no ${due.file}; ${due.criterion}` };
  const text = (await evidence.artifact(found.blob)).toString("utf8");
  if (due.kind === "plan") return planDelivery(text, code);
  if (due.kind === "brief") return briefDelivery(run, taskId, text, repository);
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

type Texts = (paths: readonly string[]) => Promise<ReadonlyMap<string, string>>;

/** A review of the files that `texts` reads, and `before` as they were without the change; a text: why there is none. */
export async function readReview(text: string, texts: Texts, before?: Texts): Promise<Review | string> {
  const check = validateDocument(text, { filename: FINDINGS_FILE, schema: "Findings" });
  if (!check.ok) return faultIn(FINDINGS_FILE, check.errors);
  const { findings } = check.value as Findings;
  const paths = [...new Set(findings.map(({ file }) => file))];
  return reviewOf(findings, await texts(paths), await before?.(paths)); // director/D4
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

/** An entry counts only if a connector answered it (director/D4). */
async function briefDelivery(
  run: RunState,
  taskId: string,
  text: string,
  repository: Ports["repository"],
): Promise<Delivery> {
  const check = validateDocument(text, { filename: BRIEF_FILE, schema: "Brief" });
  if (!check.ok) return { kind: "refused", code: CODES.brief, message: faultIn(BRIEF_FILE, check.errors) };
  const entries = (await repository.texts(intentOf(run).base.repo, run.head, [ENTRIES_FILE])).get(
    ENTRIES_FILE,
  );
  const read = validate("BriefMaterial", entries === undefined ? null : JSON.parse(entries));
  if (entries === undefined || !read.ok)
    throw new AntiphonError("ANT_BLOB_CORRUPT", `${run.head} does not hold what connectors answered`);
  const material = read.value;
  const output = briefOutputOf(check.value as Brief, material);
  const folder = layout.skillResults(run.runId);
  const about = { runId: run.runId, taskId, commit: run.head };
  return {
    kind: "delivered",
    says: briefSentence(output),
    files: [
      { path: `${folder}/brief.json`, text: json(briefResult(output, material, about)) },
      { path: `${folder}/brief.md`, text: briefMarkdown(output, material) },
      { path: `material/${ENTRIES_FILE}`, text: entries },
    ],
  };
}

export function faultIn(file: string, [first]: readonly DocumentProblem[]): string {
  return first === undefined ? `${file} is not valid` : planProblemText(file, first);
}

export const CODES = {
  plan: "ANT_PLAN_INVALID",
  findings: "ANT_REVIEW_INVALID",
  brief: "ANT_BRIEF_INVALID",
  qa: "ANT_QA_INVALID",
} as const;

const json = (value: unknown): string => `${JSON.stringify(value, null, 2)}\n`;
