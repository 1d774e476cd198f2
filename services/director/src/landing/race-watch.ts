/**
 * Ends the open runs of a race that another run has won, so that they cost nothing more, also if nobody watches the race.
 *
 * Lifecycle: an open run of a race is noted when a Director works on it, and when it sweeps, which after a crash is at its
 * start. The branch of the race is then read every few seconds until the run is over. Any number of Directors may watch a
 * run, because they write the same register.
 *
 * Because a branch of a race says only who may land, a run is ended only if the journal also holds the success of another
 * run of the race, whose commit is on that branch; the race would have been refused to the ended run (director/D13).
 */
import type { IntentBody, NewRecord, RepoRef, StoredRecord } from "@antiphon/contracts";
import type { Journal, Logger } from "@antiphon/runtime";
import type { RepositoryPort } from "../ports.ts";
import { WakeableLoop } from "../scheduling/wakeable-loop.ts";
import { winnerOf } from "./race.ts";

export interface RaceWatchParts {
  readonly journal: Pick<Journal, "appendIfUnmoved" | "read">;
  readonly repository: Pick<RepositoryPort, "land" | "tip" | "runsOf">;
  readonly log: Logger;
  /** Hints to those at work on the run that it is over. */
  hintCancel(runId: string): void;
}

interface Race {
  readonly name: string;
  readonly repo: RepoRef;
}

/** Pause between two looks. */
const LOOK_MS = 3_000;

export class RaceWatch {
  readonly #parts: RaceWatchParts;
  readonly #loop: WakeableLoop;
  /** The race of each noted run. */
  readonly #open = new Map<string, Race>();

  constructor(parts: RaceWatchParts) {
    this.#parts = parts;
    const loop = { step: () => this.look(), everyMs: LOOK_MS, failure: "races not watched" };
    this.#loop = new WakeableLoop({ ...loop, log: parts.log });
  }

  run(signal: AbortSignal): Promise<void> {
    return this.#loop.run(signal);
  }

  /** Nothing is noted for a run that is in no race. */
  note(runId: string, intent: IntentBody | null): void {
    const name = intent?.options.race;
    if (intent === null || name === undefined || this.#open.has(runId)) return;
    this.#open.set(runId, { name, repo: intent.base.repo });
    this.#loop.needed();
  }

  /** The run is over. */
  drop(runId: string): void {
    this.#open.delete(runId);
  }

  /** Looks at each noted run once. "more": some are still open. */
  async look(): Promise<"more" | "nothing"> {
    const winners = new Map<string, Promise<string | null>>();
    const looks = [...this.#open].map(async ([runId, race]) => {
      const key = JSON.stringify([race.name, race.repo.path]);
      const winner = winners.get(key) ?? winnerOf(race, this.#parts); // director/D13
      winners.set(key, winner);
      try {
        if (await this.#isOver(runId, race, await winner)) this.drop(runId);
      } catch (error) {
        this.#parts.log.warn({ err: error, run: runId, race: race.name }, "race not read; trying again");
      }
    });
    await Promise.all(looks);
    return this.#open.size > 0 ? "more" : "nothing";
  }

  async #isOver(runId: string, { name }: Race, winner: string | null): Promise<boolean> {
    const { journal, log } = this.#parts;
    if (winner === null || winner === runId)
      return (await journal.read(runId, ["cancel", "closed"])).length > 0;
    const records = await journal.read(runId);
    if (records.some(({ type }) => type === "cancel" || type === "closed")) return true;
    const last = records.at(-1);
    const record = lost(runId, `${winner} of ${name} landed first`, records);
    if (last === undefined || record === null) return true;
    const result = await journal.appendIfUnmoved(record, last.seq);
    if (result.kind === "moved") return false; // It may have ended: the next look reads it again.
    log.info({ run: runId, race: name, winner }, "race lost");
    this.#parts.hintCancel(runId);
    return true;
  }
}

function lost(runId: string, reason: string, records: readonly StoredRecord[]): NewRecord | null {
  const intent = records.find(({ type }) => type === "intent");
  if (intent === undefined) return null;
  const body = { by: "director", reason, code: "ANT_RACE_LOST" as const };
  const cause = { seq: intent.seq, digest: intent.digest };
  return { type: "cancel", runId, taskId: null, epoch: 0, cause, body };
}
