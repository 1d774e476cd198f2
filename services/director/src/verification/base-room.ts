/**
 * The base of one verification, which tells what its checks prove: a kept outcome where one answers what is asked, else that
 * of a room. Mostly the base ran already, while the attempt worked (base-trials.ts).
 *
 * A kept outcome is older than the change, so the base runs again where the change shows that it does not answer after all:
 * another image ran, or nothing tells whether the base opens a file that counts.
 */
import type { CleanRoomPort, RoomOutcome, RoomRequest } from "../ports.ts";
import { answers, type KeptBases } from "./kept-base.ts";
import { isPassed, runTrials } from "./trials.ts";

interface Answer {
  readonly outcome: RoomOutcome;
  readonly isKept: boolean;
}

interface Parts {
  readonly room: CleanRoomPort;
  /** Absent: no outcome is kept. */
  readonly kept?: KeptBases | undefined;
}

export class BaseRoom {
  readonly request: RoomRequest;
  readonly #parts: Parts;

  constructor(request: RoomRequest, parts: Parts) {
    this.request = request;
    this.#parts = parts;
  }

  async answer(stop: AbortSignal): Promise<Answer> {
    const known = (await this.#parts.kept?.take(this.request, stop)) ?? null;
    if (known !== null && answers(known, this.request.trials))
      return { outcome: known.outcome, isKept: true };
    return { outcome: await this.#run(stop), isKept: false };
  }

  /**
   * The outcome that counts beside the one of the change.
   *
   * @param files those of the change whose opening counts
   */
  async confirmed(
    { outcome, isKept }: Answer,
    change: RoomOutcome,
    files: readonly string[],
    stop: AbortSignal,
  ): Promise<RoomOutcome> {
    const isOld = isKept && (isOther(outcome, change) || isBlind(outcome, change, files));
    return isOld ? this.#run(stop) : outcome;
  }

  /** Asks again for a base that was too slow, and waits for as long as it takes. */
  async toItsEnd(change: RoomOutcome, stop: AbortSignal): Promise<RoomOutcome> {
    const { outcome, isKept } = await this.answer(stop);
    return isKept && isOther(outcome, change) ? this.#run(stop) : outcome;
  }

  #run(stop: AbortSignal): Promise<RoomOutcome> {
    return runTrials(this.request, this.#parts.room, stop);
  }
}

/** The name of an image may mean another one by now. */
function isOther(base: RoomOutcome, change: RoomOutcome): boolean {
  return base.image !== change.image;
}

/** The base need not tell which files it opened where the changed tree opened them, or failed. */
function isBlind(base: RoomOutcome, change: RoomOutcome, files: readonly string[]): boolean {
  if (base.written?.read !== undefined || !change.trials.every(isPassed)) return false;
  const opened = new Set(change.written?.read);
  return files.some((path) => !opened.has(path));
}
