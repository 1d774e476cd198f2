/** What is known about a job so far; it becomes the job's outcome. */
import type {
  EgressReport,
  EnvironmentReport,
  SandboxChanges,
  SandboxOutcome,
  SandboxStepOutcome,
  SandboxWritten,
  ServiceOutcome,
} from "@antiphon/contracts";
import type { Heard } from "../ports.ts";
import { COMPLETED, type Ending } from "./ending.ts";

/** A command that met a limit, or was halted, may have left good work. */
const KEEPS_CHANGES: ReadonlySet<Ending["outcome"]> = new Set(["completed", "timeout", "oom", "canceled"]);

export class Progress {
  ending: Ending = COMPLETED;
  /** The step that runs or ran last. */
  step: string | null = null;
  changes: SandboxChanges | null = null;
  egress: EgressReport | null = null;
  environment: EnvironmentReport | null = null;
  services: ServiceOutcome[] = [];
  heard: readonly Heard[] = [];
  /** What the trials of a job did to its files; null for other jobs. */
  written: SandboxWritten | null = null;
  /** The exit code of each command that ended. */
  readonly exits: number[] = [];
  readonly meta: SandboxOutcome["meta"];
  /** Evidence that is being stored while later steps run. */
  readonly #steps: Promise<SandboxStepOutcome>[] = [];
  readonly #trials: Progress[] = [];

  constructor(meta: Pick<SandboxOutcome["meta"], "node" | "provider" | "image">) {
    this.meta = { ...meta, containerId: "", bootMs: 0 };
  }

  keep(step: Promise<SandboxStepOutcome>): void {
    step.catch(() => undefined); // `outcome` reports it
    this.#steps.push(step);
  }

  /** The progress of one more trial of the same steps. */
  trial(): Progress {
    const trial = new Progress(this.meta);
    this.#trials.push(trial);
    return trial;
  }

  /** Resolves when at most one step waits for the store. */
  async roomInStore(): Promise<void> {
    await Promise.allSettled(this.#steps.slice(0, -1));
  }

  /** An ending without its evidence does not count: if some could not be stored, `failed` names the ending instead. */
  async outcome(failed: (error: unknown) => Ending): Promise<SandboxOutcome> {
    const [steps = [], ...trials] = await Promise.all(
      [this, ...this.#trials].map((trial) => Promise.all(trial.#steps)),
    ).catch((error: unknown) => {
      this.ending = failed(error);
      return [];
    });
    const { ending, changes, meta, egress, environment, written, services, heard } = this;
    return {
      ...ending,
      steps,
      changes: KEEPS_CHANGES.has(ending.outcome) ? changes : null,
      meta,
      ...(egress === null ? {} : { egress }),
      ...(environment === null ? {} : { environment }),
      ...(services.length === 0 ? {} : { services }),
      ...(heard.length === 0 ? {} : { heard: [...heard] }),
      ...(written === null ? {} : { trials: trials.map((trial) => briefly(trial, steps)), written }),
    };
  }
}

/** Only steps that ended otherwise than in the first trial are quoted, so that many trials fit a message. */
function briefly(
  trial: readonly SandboxStepOutcome[],
  first: readonly SandboxStepOutcome[],
): SandboxStepOutcome[] {
  return trial.map((step, i) => {
    if ((step.exitCode === 0) !== (first[i]?.exitCode === 0)) return step;
    return { ...step, stdout: { ...step.stdout, tail: "" }, stderr: { ...step.stderr, tail: "" } };
  });
}
