/**
 * The Router's whole decision as one pure function: an `intent` record's body in, a `routed` body out. The router
 * contract's `intent` is the caller's request, word for word.
 *
 * Because at most 2,048 characters of a goal are read and no pattern holds one unbounded repetition inside another, a
 * hostile goal cannot keep the Router busy (contracts/C2).
 *
 * Where a deployment names a model for what is unsure, that model may answer differently each time; the one `routed` record stands.
 *
 * Promises:
 *   router/R1 Because the decision uses only the intent and the committed weights, without clock, randomness or state,
 *     the same intent always gets the same route, unless a deployment names a model for what is unsure.
 *   router/R3 Because a task that waits for itself would wait for ever, a task graph with an unknown, doubled or
 *     circular dependency, or a plan larger than one record, is routed as BLOCKED without tasks, and its run ends with
 *     the reason.
 */
import {
  AntiphonError,
  bodyBytes,
  fitsRecord,
  isMaterial,
  recordBodyBytes,
  taskIdOf,
} from "@antiphon/contracts";
import type { IntentBody, RoutedBody, RouterContractInitial, Workflow } from "@antiphon/contracts";
import { classify } from "../classification/classify.ts";
import type { Classification } from "../classification/classify.ts";
import { read } from "../classification/reading.ts";
import { isWanted, withOpinion } from "../opinion/second-opinion.ts";
import type { Opinion } from "../opinion/second-opinion.ts";
import { planTasks } from "./plan.ts";
import type { Plan } from "./plan.ts";

// router/R1: the intent is the only input, and what a model said of it.
export function route(intent: IntentBody, opinion: Opinion | null = null): RoutedBody {
  const own = chosen(intent);
  const decided = opinion !== null && isWanted(own) ? withOpinion(own, opinion) : own;
  const { workflow, reason, confidence, tier, unsure } = decided;
  const choice = { confidence, tier, unsure, alternatives: [...decided.alternatives] };
  const unplanned = (fault: string): RoutedBody => {
    const why = `no plan: ${fault}`;
    return { workflow, reason: why, ...choice, contract: blocked(intent, workflow, why), tasks: [] };
  };
  const plan = tryPlan(intent, workflow);
  if (plan instanceof AntiphonError) return unplanned(plan.detail); // router/R3
  const contract = opened(intent, decided, plan);
  const body: RoutedBody = { workflow, reason, ...choice, contract, tasks: [...plan.tasks] };
  return fitsRecord(body) ? body : unplanned(tooLarge(body)); // router/R3
}

/** What a model is to be asked; null: the decision is sure, or no reading of the goal. */
export function doubtful(intent: IntentBody): string | null {
  return isWanted(chosen(intent)) ? read(intent.intent.goal).typed : null;
}

/** A run without a repository has nothing to change, so its goal need not be read. */
function chosen({ intent, options, base }: IntentBody): Classification {
  if (!isMaterial(base.repo)) return classify(intent.goal, options.workflow ?? null);
  const reason = "the intent names no repository, so the run only reads";
  return { workflow: "PLAN", reason, confidence: 1, tier: "explicit", unsure: false, alternatives: [] };
}

function tooLarge(body: RoutedBody): string {
  const tasks = body.tasks.length;
  const size = `a plan of ${tasks} ${tasks === 1 ? "task" : "tasks"} takes ${bodyBytes(body)} bytes in the journal`;
  return `${size}, where one record holds ${recordBodyBytes}; give the run fewer tasks or checks, or shorter ones`;
}

function tryPlan(intent: IntentBody, workflow: Workflow): Plan | AntiphonError {
  try {
    return planTasks(intent, workflow);
  } catch (error) {
    if (error instanceof AntiphonError && error.code === "ANT_PLAN_INVALID") return error;
    throw error;
  }
}

/** How the workflow was chosen, for whoever reads the contract. Empty if the caller chose it. */
function choiceNote({ tier, reason, confidence, unsure, alternatives }: Classification): string {
  if (tier === "caller") return "";
  const others = alternatives.map((other) => `${other.workflow} ${other.confidence}`).join(", ");
  const rest = others === "" ? "" : `; otherwise ${others}`;
  const advice = unsure ? ". If it is another one, run the goal again with `--workflow` and its name" : "";
  return `Workflow by the ${tier} tier, ${unsure ? "unsure" : "sure"}, confidence ${confidence}: ${reason}${rest}${advice}`;
}

/** The contract of a run that begins. */
function opened(intent: IntentBody, decided: Classification, plan: Plan): RouterContractInitial {
  return {
    status: "IN_PROGRESS",
    workflow: decided.workflow,
    intent: intent.intent.goal,
    tasks: plan.specs.map((spec) => ({
      id: spec.id,
      description: spec.description,
      status: "PENDING",
      dependencies: [...spec.dependencies],
    })),
    memory_notes: [choiceNote(decided), waitNotes(plan)].filter((note) => note !== "").join("\n"),
    next_action: `Start with Task ${firstTask(plan)}`,
  };
}

const MAX_NOTES = 40;

/** Why a task waits for another one that the plan did not name. */
function waitNotes({ waits }: Plan): string {
  const lines = waits
    .slice(0, MAX_NOTES)
    .map(({ task, on, why }) => `${taskIdOf(task)} waits for ${taskIdOf(on)}: ${why}`);
  if (waits.length > MAX_NOTES) lines.push(`and ${waits.length - MAX_NOTES} more`);
  return lines.join("\n");
}

/** The first task without dependencies. There is one, because a plan without any has a cycle and is refused before. */
function firstTask(plan: Plan): number {
  return plan.specs.find((spec) => spec.dependencies.length === 0)?.id ?? 1;
}

function blocked(intent: IntentBody, workflow: Workflow, why: string): RouterContractInitial {
  return {
    status: "BLOCKED",
    workflow,
    intent: intent.intent.goal,
    tasks: [],
    memory_notes: "",
    next_action: `Correct the tasks and run the intent again (${why})`,
  };
}
