// A run that takes the change of another one once more, without the agent that made it: `antiphon run --patch <run>` without a goal.
import { withAnsweredChecks } from "@antiphon/contracts/plans/answered-checks";
import type { AgentSpec, Intent, IntentBody } from "@antiphon/contracts";
import { pastTask } from "../bakeoff/past-task.ts";
import { Failure, usage } from "../failure.ts";
import { answeredBefore } from "../forks/fork-point.ts";
import type { GatewayClient } from "../gateway/gateway-client.ts";

export interface TakenUp {
  /** The run that left the change. */
  readonly runId: string;
  readonly body: IntentBody;
  /** How many tasks it has. */
  readonly tasks: number;
}

export async function readTakenUp(gateway: GatewayClient, runId: string): Promise<TakenUp> {
  const at = { id: runId };
  const [{ records }, { steps }] = await Promise.all([
    gateway.get("/runs/{id}/events", at),
    gateway.get("/runs/{id}", at),
  ]);
  const first = records.find(({ type }) => type === "intent");
  if (first?.type !== "intent") throw new Failure("ANT_RUN_NOT_FOUND", `${runId} has no intent on record`);
  const options = withAnsweredChecks(first.body.options, answeredBefore(records));
  return { runId, body: { ...first.body, options }, tasks: steps.length };
}

/**
 * The intent of the run that left the change, with what is said now. Pure.
 *
 * `given`: as the flags say it, with the change as its agent. What it names goes before what the run had, and its grants are added to
 * those of the run. @throws Failure ANT_USAGE
 */
export function takenUp({ runId, body, tasks }: TakenUp, given: Intent, hasRepo: boolean): Intent {
  const again = pastTask(body, given.inputs["agent"] as AgentSpec, null);
  if (again === null || tasks !== 1)
    throw usage(
      `${runId} has ${again === null ? "no repository" : "several tasks"}, so it cannot be taken up as it is`,
      `say what the change is for: antiphon run "<intent>" --patch ${runId}`,
    );
  const { land_on } = body.intent.inputs;
  const { approvals } = body.intent.constraints;
  const { repo, ...said } = given.inputs;
  const { model_budget, egress, ...kept } = again.constraints; // A patch calls no models.
  const judges = again.inputs["gates"] === undefined ? {} : { model_budget, egress };
  const grants = [again.inputs["grants"], said["grants"]].flatMap((globs) => (globs as string[]) ?? []);
  return {
    ...again,
    inputs: {
      ...again.inputs,
      ...(land_on === undefined ? {} : { land_on }),
      ...said,
      ...(hasRepo ? { repo } : {}),
      ...(grants.length === 0 ? {} : { grants }),
    },
    constraints: {
      ...kept,
      ...judges,
      ...(approvals === undefined ? {} : { approvals }),
      ...given.constraints,
    },
  };
}
