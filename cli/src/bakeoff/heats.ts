// Starts runs, a few at a time, and keeps what came of each. A start that is refused concerns its own run only; if the gateway is
// gone, or somebody stops it, nothing more is started.
import { Failure } from "../failure.ts";

export interface Course<H, M> {
  /** Returns the id of the run. */
  start(heat: H): Promise<string>;
  /** Waits for the end of the run. */
  measure(heat: H, runId: string): Promise<M>;
}

export interface Outcome<H, M> {
  readonly heat: H;
  /** Null: it was not started. */
  readonly runId: string | null;
  /** Null: its end is not known. */
  readonly measured: M | null;
  /** Why it was not started or its end is not known. Null: it was measured, or somebody stopped it all. */
  readonly failure: Failure | null;
}

export interface Held<H, M> {
  /** One for each heat, in their order. */
  readonly outcomes: readonly Outcome<H, M>[];
  /** Why nothing more was started, or null. */
  readonly stoppedBy: Failure | null;
}

export async function runHeats<H, M>(
  heats: readonly H[],
  atOnce: number,
  course: Course<H, M>,
  stop: AbortSignal,
): Promise<Held<H, M>> {
  const outcomes = new Map<H, Outcome<H, M>>();
  const open = [...heats];
  let stoppedBy: Failure | null = null;

  async function run(heat: H): Promise<Outcome<H, M>> {
    let runId: string | null = null;
    try {
      runId = await course.start(heat);
      return { heat, runId, measured: await course.measure(heat, runId), failure: null };
    } catch (thrown) {
      const failure = Failure.from(thrown);
      if (!isAboutOneRun(failure)) stoppedBy ??= failure;
      return { heat, runId, measured: null, failure };
    }
  }

  async function work(): Promise<void> {
    while (stoppedBy === null && !stop.aborted) {
      const heat = open.shift();
      if (heat === undefined) return;
      outcomes.set(heat, await run(heat));
    }
  }

  await Promise.all(Array.from({ length: Math.min(atOnce, heats.length) }, work));
  const missed = (heat: H): Outcome<H, M> => ({ heat, runId: null, measured: null, failure: stoppedBy });
  return { outcomes: heats.map((heat) => outcomes.get(heat) ?? missed(heat)), stoppedBy };
}

/** The gateway answered, and what it refused is this run. Its address, its token and the services behind it are fine. */
function isAboutOneRun({ code, data: { httpStatus } }: Failure): boolean {
  if (typeof httpStatus !== "number") return false;
  return code.startsWith("ANT_REPO_") || (httpStatus >= 400 && httpStatus < 500 && httpStatus !== 401);
}
