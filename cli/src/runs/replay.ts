// The attempts of a run that can be replayed, and the replay of one.
import type { ReplayReport } from "@antiphon/contracts";
import { Failure } from "../failure.ts";
import type { GatewayClient } from "../gateway/gateway-client.ts";
import type { Colours } from "../screen/colours.ts";

export interface AttemptName {
  readonly task: string;
  readonly epoch: number;
  readonly budgetS: number;
}

/** The wait for a free sandbox, and the work before and after it. */
const WAIT_MS = 11 * 60_000;

/** The attempts that ended with a report, oldest first. Throws ANT_REPLAY_NO_RECORD if there is none. */
export async function attemptsOf(gateway: GatewayClient, runId: string): Promise<AttemptName[]> {
  const { records } = await gateway.get("/runs/{id}/events", { id: runId });
  const attempts = records.flatMap((record): AttemptName[] => {
    if (record.type !== "result" || record.body.kind !== "reported") return [];
    const dispatch = records.find(
      (one) => one.type === "dispatch" && one.taskId === record.taskId && one.epoch === record.epoch,
    );
    const budgetS = dispatch?.type === "dispatch" ? dispatch.body.task.time_budget_s : 300;
    return record.taskId === null ? [] : [{ task: record.taskId, epoch: record.epoch, budgetS }];
  });
  if (attempts.length > 0) return attempts;
  throw new Failure("ANT_REPLAY_NO_RECORD", `${runId} has no attempt that ended with a report`, {
    remedy: "`antiphon get <runId>` shows the attempts of a run",
    exitCode: 1,
  });
}

/** @param named attempts as `T-001:2`; none: all. */
export function chosenFrom(attempts: readonly AttemptName[], named: readonly string[]): AttemptName[] {
  if (named.length === 0) return [...attempts];
  return named.map((name) => {
    const found = attempts.find(({ task, epoch }) => `${task}:${epoch}` === name);
    if (found !== undefined) return found;
    const known = attempts.map(({ task, epoch }) => `${task}:${epoch}`).join(", ");
    throw new Failure("ANT_USAGE", `there is no attempt ${JSON.stringify(name)} with a report`, {
      remedy: `name one of ${known}`,
      exitCode: 2,
    });
  });
}

export async function replayed(
  gateway: GatewayClient,
  runId: string,
  { task, epoch, budgetS }: AttemptName,
  image: string | undefined,
): Promise<ReplayReport> {
  const timeoutMs = budgetS * 1000 + WAIT_MS;
  const request = { task, epoch, ...(image === undefined ? {} : { image }) };
  const answer = await gateway.post("/runs/{id}/replay", { id: runId }, request, timeoutMs);
  if (!("error" in answer)) return answer;
  // The status was sent before the replay began (see the gateway's README).
  const { code, message, remedy, ...data } = answer.error;
  throw new Failure(code, message, { remedy, data });
}

export function replayLine(report: ReplayReport, c: Colours): string {
  const { task, epoch, same, recorded, replayed: now, calls, served, divergence } = report;
  const where = placeOf(report);
  const used = calls === 0 ? "no model call" : `${served} of ${calls} recorded answers, 0 tokens`;
  const first = divergence === null ? "" : `; first difference: ${divergence.step}: ${divergence.what}`;
  if (same)
    return `${c.green("✓")} ${task} attempt ${epoch}: the same ${shown(recorded)}${where}  ${c.dim(`${used}${first}`)}`;
  return `${c.red("✗")} ${task} attempt ${epoch}: ${shown(recorded)} then, ${shown(now)} now${where}${first}  ${c.dim(used)}`;
}

function shown(digest: string | null): string {
  return digest === null ? "empty diff" : `diff ${digest.slice(0, 17)}`;
}

/** Said only if the image is another one, because most replays are in the same. */
function placeOf({ images }: ReplayReport): string {
  const { recorded = null, replayed: now = null } = images ?? {};
  if (recorded === null || now === null || recorded === now) return "";
  return ` in image ${shortId(now)} (recorded in ${shortId(recorded)})`;
}

const shortId = (id: string): string => id.slice(0, 19);
