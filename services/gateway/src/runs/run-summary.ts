// One line of the list of runs. Pure.
import { isPaused, runView, timeOf, type RunFacts } from "@antiphon/run";
import { type AntiphonError } from "@antiphon/contracts";
import type { RunViewModel } from "@antiphon/contracts";

export interface RunSummary {
  readonly runId: string;
  readonly intentId: string;
  readonly goal: string;
  readonly repo: string;
  /** corrupt: its records cannot be read; `code` and `detail` give the reason. */
  readonly status: RunViewModel["status"] | "corrupt";
  /** Paused by a person: nothing new starts until it is resumed. */
  readonly paused: boolean;
  readonly code: string | null;
  readonly detail?: string;
  readonly startedAt: string | null;
  readonly endedAt: string | null;
  /** The race that it is part of. */
  readonly race?: string;
  /** Stream sequence of the first record: the order in which runs were accepted. */
  readonly seq: number;
}

/** The line of a run whose records cannot be read. It is listed at the damaged record's position, or first. */
export function corruptSummary(runId: string, { code, detail, data }: AntiphonError): RunSummary {
  return {
    ...{ runId, intentId: "", goal: "", repo: "", paused: false, startedAt: null, endedAt: null },
    ...{ status: "corrupt", code, detail },
    seq: typeof data.seq === "number" ? data.seq : Number.MAX_SAFE_INTEGER,
  };
}

/** `seq`: of the first record. */
export function runSummary(facts: RunFacts, seq: number): RunSummary | null {
  const { runId, intent, openedAt, closed } = facts;
  if (intent === null || openedAt === null) return null;
  return {
    runId,
    intentId: intent.intentId,
    goal: intent.intent.goal,
    repo: intent.base.repo.path,
    status: runView(facts).status,
    paused: isPaused(facts),
    code: closed?.code ?? null,
    startedAt: timeOf(openedAt),
    endedAt: closed === null ? null : timeOf(closed.at),
    ...(intent.options.race === undefined ? {} : { race: intent.options.race }),
    seq,
  };
}
