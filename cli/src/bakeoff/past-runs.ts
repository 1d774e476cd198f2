// Reads the past runs whose tasks a bake-off does again.
import type { RunRecord } from "@antiphon/client";
import { withAnsweredChecks } from "@antiphon/contracts/plans/answered-checks";
import { Failure } from "../failure.ts";
import { answeredBefore } from "../forks/fork-point.ts";
import type { GatewayClient } from "../gateway/gateway-client.ts";
import type { PastBody } from "./past-task.ts";
import { sampleOf, type Sample } from "./sample.ts";

/** Of these nothing can be learned, or nothing yet. */
const UNFIT: ReadonlySet<string> = new Set(["queued", "running", "waiting_input", "canceled", "corrupt"]);

/** Whether a past run has a task to do again: it ended by itself. */
export function isOver({ status }: { readonly status: string }): boolean {
  return !UNFIT.has(status);
}

/** The past runs whose tasks are done again. */
export async function pastTasks(
  gateway: GatewayClient,
  runs: readonly string[],
  limit: number,
): Promise<Sample> {
  return sampleOf(runs, limit, async (id) => {
    const { records } = await gateway.get("/runs/{id}/events", { id });
    return pastBody(records);
  });
}

/** A question about the proof that people have answered is not asked in each heat: the answer is a check of the task. */
export function pastBody(records: readonly RunRecord[]): PastBody | null {
  const first = records.find(({ type }) => type === "intent");
  if (first?.type !== "intent") return null;
  const { body } = first;
  return { ...body, options: withAnsweredChecks(body.options, answeredBefore(records)) };
}

/** @throws Failure ANT_RUN_NOT_FOUND if there is nothing to do again */
export function requireRuns(runs: readonly unknown[], filter: string): void {
  if (runs.length > 0) return;
  throw new Failure("ANT_RUN_NOT_FOUND", `no run that has ended matches ${filter}`, {
    remedy: "`antiphon runs` lists them; `--runs all` takes each that has ended",
    exitCode: 2,
  });
}
