/**
 * The Router's whole decision as one pure function: an `intent` record's body in, a `routed` body out.
 *
 * Invariants:
 *   R1 The same intent gives the same route: no clock, no randomness, no model, no state.
 *   R2 What the caller chose wins; then an error signal, then plan, then review; build is the default.
 *   R3 The words that decided are kept in the reason.
 *   R4 Reading a goal takes bounded time, whatever it says.
 *   R5 `intent` in the router contract is the caller's request, word for word.
 *   R6 A graph that cannot be walked is routed as BLOCKED with no task, so that the run ends and says why
 *      instead of hanging.
 *   R7 So is a plan that one record cannot hold: agent, tools and checks are repeated for each task, so a small intent
 *      can make one. The reason says its size, the bound and what to do.
 */
import { AntiphonError, bodyBytes, recordBodyBytes } from "@antiphon/contracts";
import type { IntentBody, RoutedBody, RouterContractInitial, Workflow } from "@antiphon/contracts";
import { classify } from "../classification/classify.ts";
import { planTasks } from "./plan.ts";
import type { Plan } from "./plan.ts";

// R1: nothing but the intent goes in.
export function route(intent: IntentBody): RoutedBody {
  const { workflow, reason, confidence } = classify(intent.intent.goal, intent.options.workflow ?? null);
  const unplanned = (fault: string): RoutedBody => {
    const why = `no plan: ${fault}`;
    return { workflow, reason: why, confidence, contract: blocked(intent, workflow, why), tasks: [] };
  };
  const plan = tryPlan(intent, workflow);
  if (plan instanceof AntiphonError) return unplanned(plan.detail); // R6
  const contract = opened(intent, workflow, plan);
  const body: RoutedBody = { workflow, reason, confidence, contract, tasks: [...plan.tasks] };
  const bytes = bodyBytes(body);
  return bytes <= recordBodyBytes ? body : unplanned(tooLarge(bytes, body.tasks.length)); // R7
}

function tooLarge(bytes: number, tasks: number): string {
  const size = `a plan of ${tasks} ${tasks === 1 ? "task" : "tasks"} takes ${bytes} bytes in the journal`;
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

/** The initial form of seed 003. */
function opened(intent: IntentBody, workflow: Workflow, plan: Plan): RouterContractInitial {
  return {
    status: "IN_PROGRESS",
    workflow,
    intent: intent.intent.goal, // R5
    tasks: plan.specs.map((spec) => ({
      id: spec.id,
      description: spec.description,
      status: "PENDING",
      dependencies: [...spec.dependencies],
    })),
    memory_notes: "",
    next_action: `Start with Task ${firstTask(plan)}`,
  };
}

/** The first task that waits for nobody; a plan without one has a cycle and never gets here. */
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
