/** Which runs wait for a person, and which of them the person has not been told about. Pure. */
import type { RunLine } from "../api/run-record.ts";

/** Runs of the newest ones that are looked at. */
export const LOOKED_AT = 200;

export const waitingIn = (runs: readonly RunLine[]): readonly RunLine[] =>
  runs.filter(({ status }) => status === "waiting_input");

/** `told`: the runs that waited at the last look; null: this is the first one, and what waits already is on the page. */
export function untold(told: ReadonlySet<string> | null, waiting: readonly RunLine[]): readonly RunLine[] {
  return told === null ? [] : waiting.filter(({ runId }) => !told.has(runId));
}

export const titleOf = (waiting: number): string => (waiting === 0 ? "Antiphon" : `(${waiting}) Antiphon`);
