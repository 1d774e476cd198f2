/**
 * The spans of a run's stages. Their ids are a function of the trace and the stage, not random: every process names the
 * same parent without asking another one, so a process that dies with its own spans leaves no hole in the trace.
 */
import { sha256Hex } from "../wire/codec.ts";

/** All of a run, one attempt at a task, or a part of one of them. */
export type Stage = "run" | "routing" | "attempt" | "queue" | "work" | "verification" | "landing";

export interface StagePlace {
  readonly runId: string;
  /** Null: the run itself, or the integration of its tasks, whose sandbox jobs call it `integration`. */
  readonly taskId: string | null;
  readonly epoch: number;
}

export function stageSpanId(traceId: string, stage: Stage, { runId, taskId, epoch }: StagePlace): string {
  const place =
    stage === "run" || stage === "routing" ? [] : [(taskId ?? "integration").toLowerCase(), epoch];
  return sha256Hex(JSON.stringify([traceId, runId, stage, ...place])).slice(0, 16);
}

/** The stage that work on a record or a sandbox job belongs to: an attempt, or the run as a whole. */
export const anchorSpanId = (traceId: string, place: StagePlace): string =>
  stageSpanId(traceId, place.epoch === 0 ? "run" : "attempt", place);
