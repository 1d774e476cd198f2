// Reads the past runs whose tasks a bake-off does again.
import { Failure } from "../failure.ts";
import type { GatewayClient } from "../gateway/gateway-client.ts";
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
    const first = records.find(({ type }) => type === "intent");
    return first?.type === "intent" ? first.body : null;
  });
}

/** @throws Failure ANT_RUN_NOT_FOUND if there is nothing to do again */
export function requireRuns(runs: readonly unknown[], filter: string): void {
  if (runs.length > 0) return;
  throw new Failure("ANT_RUN_NOT_FOUND", `no run that has ended matches ${filter}`, {
    remedy: "`antiphon runs` lists them; `--runs all` takes each that has ended",
    exitCode: 2,
  });
}
