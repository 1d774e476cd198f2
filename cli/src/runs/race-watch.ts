// Watches the runs of a race until each has ended, or those that are left all wait for people. The first that succeeds
// cancels the others.
import type { CliContext } from "../context.ts";
import { Failure } from "../failure.ts";
import { follow, type FollowEnd } from "./follow.ts";
import { PresentWork } from "./present-work.ts";
import { tellRace } from "./race-news.ts";

export interface Racer {
  readonly runId: string;
  /** The agent, for people. */
  readonly agent: string;
}

/** `lost`: the run could not be watched to its end, which has been said. */
export type Watched = FollowEnd | { readonly kind: "lost"; readonly failure: Failure };

/** `json`: nothing is told before the end. */
export async function watchRace(
  context: CliContext,
  racers: readonly Racer[],
  { json }: { readonly json: boolean },
): Promise<Watched[]> {
  const stop = new AbortController();
  const open = new Map<string, "works" | "waits">(racers.map(({ runId }) => [runId, "works"]));
  let isWon = false;

  const note = (runId: string, now: "works" | "waits" | "over"): void => {
    if (now === "over") open.delete(runId);
    else if (open.has(runId)) open.set(runId, now);
    if ([...open.values()].every((one) => one === "waits")) stop.abort();
  };

  async function cancelOthers(winner: string): Promise<void> {
    const others = racers.filter(({ runId }) => runId !== winner);
    const canceled = await cancelAll(context, others, `${winner} succeeded first`);
    for (const runId of canceled) note(runId, "works"); // It ends soon, also if it waited.
  }

  async function watch({ runId }: Racer, present: PresentWork): Promise<Watched> {
    const waits = {
      tell: (isWaiting: boolean) => note(runId, isWaiting ? "waits" : "works"),
      until: stop.signal,
    };
    try {
      const end = await follow(context, runId, {
        ...{ logs: false, jsonLines: false, quiet: true, present },
        waits,
      });
      if (end.summary.status === "succeeded" && !isWon) {
        isWon = true;
        await cancelOthers(runId);
      }
      return end;
    } catch (thrown) {
      const failure = Failure.from(thrown);
      context.screen.err(`${runId} cannot be watched any more; the other runs of the race are`);
      context.screen.failure(failure);
      return { kind: "lost", failure };
    } finally {
      present.end();
      note(runId, "over");
    }
  }

  const works = racers.map((racer) => ({ ...racer, present: new PresentWork(racer.runId) }));
  const stopTelling = json ? null : tellRace(context, works);
  try {
    return await Promise.all(works.map(({ present, ...racer }) => watch(racer, present)));
  } finally {
    stopTelling?.();
  }
}

/** Returns the ids of those that are canceled now; a run that has ended by itself is none of them. */
export async function cancelAll(
  context: CliContext,
  racers: readonly Racer[],
  reason: string,
): Promise<string[]> {
  const gateway = await context.gateway();
  const canceled: string[] = [];
  for (const { runId } of racers)
    try {
      await gateway.post("/runs/{id}/events", { id: runId }, { event: "cancel", reason });
      canceled.push(runId);
    } catch (error) {
      const failure = Failure.from(error);
      if (failure.data.httpStatus !== 409) context.screen.failure(failure);
    }
  return canceled;
}
