/** Keeps the output of a command up to its question. When the command ends, its whole output is kept as that of any other. */
import type { SandboxStepOutcome } from "@antiphon/contracts";
import { OutputBound } from "../conversation/output-bound.ts";
import type { JobPorts } from "./job-ports.ts";

export class PrintedSoFar {
  readonly #streams: Readonly<Record<"stdout" | "stderr", OutputBound>>;

  constructor(keepBytes: number) {
    this.#streams = { stdout: new OutputBound(keepBytes), stderr: new OutputBound(keepBytes) };
  }

  push(stream: "stdout" | "stderr", piece: Buffer): void {
    this.#streams[stream].push(piece);
  }

  /** Null: it cannot be stored. `startedAt`: by `performance.now`. */
  async kept(
    id: string,
    startedAt: number,
    { evidence, progress }: Pick<JobPorts, "evidence" | "progress">,
  ): Promise<SandboxStepOutcome | null> {
    const [stdout, stderr] = [this.#streams.stdout.finish(), this.#streams.stderr.finish()];
    const durationMs = performance.now() - startedAt;
    try {
      return await evidence.step({ id, exitCode: null, timedOut: false, durationMs, stdout, stderr });
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      progress(`the output at the question is not kept: ${why}`);
      return null;
    }
  }
}
