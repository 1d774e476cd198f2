/** What is known about a job so far; it becomes the job's outcome. */
import type { EgressReport, SandboxChanges, SandboxOutcome, SandboxStepOutcome } from "@antiphon/contracts";
import { COMPLETED, type Ending } from "./ending.ts";

export class Progress {
  ending: Ending = COMPLETED;
  /** The step that runs or ran last. */
  step: string | null = null;
  changes: SandboxChanges | null = null;
  egress: EgressReport | null = null;
  readonly meta: SandboxOutcome["meta"];
  /** Evidence that is being stored while later steps run. */
  readonly #steps: Promise<SandboxStepOutcome>[] = [];

  constructor(meta: Pick<SandboxOutcome["meta"], "node" | "provider" | "image">) {
    this.meta = { ...meta, containerId: "", bootMs: 0 };
  }

  keep(step: Promise<SandboxStepOutcome>): void {
    step.catch(() => undefined); // `outcome` reports it
    this.#steps.push(step);
  }

  /** Resolves when at most one step waits for the store. */
  async roomInStore(): Promise<void> {
    await Promise.allSettled(this.#steps.slice(0, -1));
  }

  /** An ending without its evidence does not count: if some could not be stored, `failed` names the ending instead. */
  async outcome(failed: (error: unknown) => Ending): Promise<SandboxOutcome> {
    const steps = await Promise.all(this.#steps).catch((error: unknown) => {
      this.ending = failed(error);
      return [];
    });
    const { ending, changes, meta, egress } = this;
    return {
      ...ending,
      steps,
      changes: ending.outcome === "completed" ? changes : null,
      meta,
      ...(egress === null ? {} : { egress }),
    };
  }
}
