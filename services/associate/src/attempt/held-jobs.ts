/**
 * The jobs of this process that wait for a person's answer: a command waits for it, or a program has ended and is started again with it. The attempt that asked is over and has its record; the answer
 * dispatches the next attempt, and if this process gets it, the job goes on with the answer. Otherwise the job is ended, and
 * the next attempt starts from the files at the question and is told question and answer. So nothing depends on a held job, and no
 * record names it.
 *
 * Lifecycle of a job here: kept -> taken (the next attempt goes on with it) | ended: its run is over, another Associate has the
 * next attempt, its room is needed, it ended by itself (limits.askHoldMs), or the process stops.
 */
import { limits, type DispatchBody } from "@antiphon/contracts";
import type { Logger } from "@antiphon/runtime";
import { answerTo } from "./going-on.ts";
import type { RunningJob } from "./running-job.ts";

export interface AttemptAt {
  readonly runId: string;
  readonly taskId: string;
  readonly epoch: number;
}

interface Held {
  readonly at: AttemptAt;
  readonly job: RunningJob;
}

export interface HeldJobsParts {
  /** Whether the run is over, or another process has claimed this attempt. */
  readonly isLost: (next: AttemptAt) => Promise<boolean>;
  readonly log: Logger;
}

export class HeldJobs {
  readonly #parts: HeldJobsParts;
  /** Oldest first. */
  readonly #held = new Map<string, Held>();
  #timer: NodeJS.Timeout | null = null;

  constructor(parts: HeldJobsParts) {
    this.#parts = parts;
  }

  keep(at: AttemptAt, job: RunningJob): void {
    if (this.#held.size >= limits.heldJobs) this.dropOldest();
    const key = keyOf(at);
    this.#held.set(key, { at, job });
    const gone = (): void => {
      if (this.#held.get(key)?.job === job) this.#forget(key);
    };
    job.ended.then(gone, gone);
    this.#timer ??= setInterval(() => void this.#look(), limits.claimHeartbeatMs).unref();
  }

  /** The job that asked what the newest answer is about; it goes on with that answer. Null: there is none. */
  take(next: AttemptAt, answers: DispatchBody["answers"]): RunningJob | null {
    const key = keyOf(next);
    const held = this.#held.get(key);
    if (held === undefined) return null;
    this.#forget(key);
    const { at, job } = held;
    const answer = answers.at(-1);
    if (at.epoch !== next.epoch - 1 || answer === undefined || job.question?.text !== answer.question) {
      job.drop();
      return null;
    }
    job.answer(
      answerTo(job.question, answer.answer, job.facts, { dispatch: { answers }, epoch: next.epoch }),
      next.epoch,
    );
    return job;
  }

  /** Makes room for other work. */
  dropOldest(): void {
    const [oldest] = this.#held.keys();
    if (oldest !== undefined) this.#drop(oldest, "its room is needed");
  }

  dropAll(): void {
    for (const key of [...this.#held.keys()]) this.#drop(key, "the process stops");
  }

  async #look(): Promise<void> {
    for (const [key, { at, job }] of [...this.#held]) {
      const lost = await this.#parts.isLost({ ...at, epoch: at.epoch + 1 }).catch((error: unknown) => {
        this.#parts.log.debug({ err: error, run: at.runId }, "could not read the journal");
        return false;
      });
      if (lost && this.#held.get(key)?.job === job) this.#drop(key, "nobody needs it any more");
    }
  }

  #drop(key: string, why: string): void {
    const held = this.#held.get(key);
    this.#forget(key);
    if (held === undefined) return;
    this.#parts.log.info({ run: held.at.runId, task: held.at.taskId, why }, "waits for no answer any more");
    held.job.drop();
  }

  #forget(key: string): void {
    this.#held.delete(key);
    if (this.#held.size > 0 || this.#timer === null) return;
    clearInterval(this.#timer);
    this.#timer = null;
  }
}

const keyOf = ({ runId, taskId }: AttemptAt): string => `${runId} ${taskId}`;
