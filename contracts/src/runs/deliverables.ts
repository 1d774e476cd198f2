/**
 * The file with which the task of a PLAN or REVIEW run, of one without a repository, or of a skill, ends. It is named in the task's
 * `return.artifacts`.
 */
import type { DirectorTask } from "../seeds/director-task.ts";
import type { Workflow } from "../seeds/router-contract.ts";
import { PLAN_FILE } from "../plans/plan-text.ts";
import { BRIEF_FILE } from "../reviews/brief.ts";
import { FINDINGS_FILE } from "../reviews/findings.ts";
import { ENTRIES_FILE } from "./connectors.ts";
import { QA_FILE, type GateSkill } from "./skill-gates.ts";

export interface Deliverable {
  readonly kind: "plan" | "findings" | "brief" | "qa";
  readonly file: string;
  /** What the agent is told, as an acceptance criterion. */
  readonly criterion: string;
}

const FINDINGS: Deliverable = {
  kind: "findings",
  file: FINDINGS_FILE,
  criterion: `${FINDINGS_FILE} at the root of the work tree holds the review: {findings: [{severity: error|warning|info, file, line, quote, why, suggestion?}]}, each quote word for word as in the file, no other file changed`,
};

export const DELIVERABLES: { readonly [W in Workflow]?: Deliverable } = {
  PLAN: {
    kind: "plan",
    file: PLAN_FILE,
    criterion: `${PLAN_FILE} at the root of the work tree holds the plan: {goal?, tasks: [{id, description, dependencies, allowed_files, acceptance_criteria: [{criterion, check}]}]}, ids from 1, no circle, a source and the test that uses it in one task, no other file changed`,
  },
  REVIEW: FINDINGS,
};

const OF_SKILLS: { readonly [S in GateSkill]: Deliverable } = {
  reviewer: FINDINGS,
  qa: {
    kind: "qa",
    file: QA_FILE,
    criterion: `${QA_FILE} at the root of the work tree holds the report: {result: "PASS"|"FAIL", details: what was tried and what came of it}, no other file changed`,
  },
};

/** The file that a skill has to write when it judges a change. */
export function deliverableOfSkill(skill: GateSkill): Deliverable {
  return OF_SKILLS[skill];
}

/** Of a run without a repository. */
export const BRIEF: Deliverable = {
  kind: "brief",
  file: BRIEF_FILE,
  criterion: `${BRIEF_FILE} at the root of the work tree holds the brief: {summary, entries: [{source, note?}]}, the most important entry first, each source word for word as in ${ENTRIES_FILE}, no other file changed`,
};

/** What a task has to deliver; null: nothing but its change. */
export function deliverableOf(workflow: Workflow, task: DirectorTask): Deliverable | null {
  const { artifacts } = task.return;
  return (
    [BRIEF, DELIVERABLES[workflow]].find((due) => due !== undefined && artifacts.includes(due.file)) ?? null
  );
}
