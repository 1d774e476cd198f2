/**
 * Runs the steps of a job several times, to find checks that do not always end the same way.
 *
 * Every trial begins on the same files. After each one the supervisor tells what was written, compared with its own memory,
 * and clears what was made in the workspace and the temporary directories; if a file was changed, the workspace is filled
 * again. No process outlives its step (sandbox-runner/S3) and nothing else in a sandbox is writable, so a trial finds
 * nothing of the one before, except objects of System V IPC. If the sandbox cannot be cleared, no other trial runs in it.
 *
 * A trial that runs out of time or memory is a result like any other. The report of what was written holds all trials.
 */
import { limits, type SandboxTrials, type SandboxWritten } from "@antiphon/contracts";
import { SandboxDied, type Survey } from "../ports.ts";

/** How one step of a trial ended; null: it did not. */
type Exit = number | null;

export interface TrialGround {
  /** Runs all steps on a fresh budget. Rejects with SandboxDied when the sandbox ended instead. */
  run(): Promise<readonly Exit[]>;
  survey(clear: boolean): Promise<Survey>;
  /**
   * Puts back what the clearing removed. If files were changed, puts all files of the job into the emptied workspace and
   * has the supervisor remember them.
   */
  refill(filesChanged: boolean): Promise<void>;
  now(): number;
}

/**
 * The files of which a report tells whether they were read. `whole`: any of so many, so that a list that is not there says
 * that it cannot be told.
 */
export interface Traced {
  has(path: string): boolean;
  readonly size: number;
  readonly whole: boolean;
}

export const UNTRACED: Traced = { has: () => false, size: 0, whole: false };

/** `first`: the exits of the trial that ran already, and its time. */
export async function repeatTrials(
  asked: SandboxTrials,
  first: { readonly exits: readonly Exit[]; readonly tookMs: number },
  ground: TrialGround,
  traced: Traced = UNTRACED,
): Promise<SandboxWritten> {
  const written = new WrittenSum(traced);
  let spentMs = first.tookMs;
  for (let ran = 1, differs = false; ; ran += 1) {
    const again = !differs && isWanted(asked, ran, spentMs);
    const survey = await ground.survey(again);
    written.add(survey);
    if (!again || !survey.cleared || survey.written === null) return written.sum();
    if (!(await isRefilled(ground, survey.written.changed.length > 0))) return written.sum();
    const startedAt = ground.now();
    const exits = await exitsOf(ground);
    spentMs += ground.now() - startedAt;
    if (exits === null) return written.sum();
    differs = exits.some((exit, i) => (exit === 0) !== (first.exits[i] === 0));
  }
}

export function isWanted({ least, most, withinMs }: SandboxTrials, ran: number, spentMs: number): boolean {
  return ran < most && (ran < least || spentMs < withinMs);
}

/** False when the sandbox did not take its files again: it is gone, and its first trial counts all the same. */
async function isRefilled(ground: TrialGround, filesChanged: boolean): Promise<boolean> {
  try {
    await ground.refill(filesChanged);
    return true;
  } catch (error) {
    if (error instanceof SandboxDied && error.death.kind === "protocol") return false;
    throw error;
  }
}

/** Null when the trial ended the sandbox by its own doing; its steps so far are kept. */
async function exitsOf(ground: TrialGround): Promise<readonly Exit[] | null> {
  try {
    return await ground.run();
  } catch (error) {
    const own = error instanceof SandboxDied && ["timeout", "oom", "output"].includes(error.death.kind);
    if (!own) throw error;
    return null;
  }
}

class WrittenSum {
  readonly #changed = new Set<string>();
  readonly #restored = new Set<string>();
  readonly #made = new Set<string>();
  readonly #read = new Set<string>();
  readonly #traced: Traced;
  #complete = true;

  constructor(traced: Traced) {
    this.#traced = traced;
  }

  add({ written }: Survey): void {
    if (written === null) this.#complete = false;
    for (const path of written?.changed ?? []) this.#changed.add(path);
    for (const path of written?.restored ?? []) this.#restored.add(path);
    for (const path of written?.made ?? []) this.#made.add(path);
    for (const path of written?.read ?? []) if (this.#traced.has(path)) this.#read.add(path);
  }

  sum(): SandboxWritten {
    const lists = [this.#changed, this.#restored, this.#made];
    const complete = this.#complete && lists.every(({ size }) => size <= limits.writtenPaths);
    const [changed = [], restored = [], made = []] = lists.map((paths) =>
      [...paths].sort().slice(0, limits.writtenPaths),
    );
    return { changed, restored, made, complete, ...this.#reads() };
  }

  #reads(): Pick<SandboxWritten, "read"> {
    const { size, whole } = this.#traced;
    if (size === 0) return {};
    if (whole && (!this.#complete || this.#read.size > limits.writtenPaths)) return {};
    return { read: [...this.#read].sort() };
  }
}
