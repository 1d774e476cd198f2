/** What a job leaves behind in the object store: the kept output of its steps and the tar of its changes. */
import { limits, type OutputRef, type SandboxChanges, type SandboxStepOutcome } from "@antiphon/contracts";
import type { Blobs } from "@antiphon/runtime";
import type { Collected } from "../core/collected.ts";
import { utf8Tail, type BoundedOutput } from "../core/output-bound.ts";
import { canonicalTar } from "../core/tar-writer.ts";

export interface FinishedStep {
  readonly id: string;
  readonly exitCode: number | null;
  readonly timedOut: boolean;
  readonly durationMs: number;
  readonly stdout: BoundedOutput;
  readonly stderr: BoundedOutput;
}

export class Evidence {
  readonly #blobs: Pick<Blobs, "put">;

  constructor(blobs: Pick<Blobs, "put">) {
    this.#blobs = blobs;
  }

  async step(finished: FinishedStep): Promise<SandboxStepOutcome> {
    const [stdout, stderr] = await Promise.all([
      this.#output(finished.stdout),
      this.#output(finished.stderr),
    ]);
    return { ...finished, stdout, stderr };
  }

  async changes({ files, deletions }: Collected): Promise<SandboxChanges> {
    const overlay = files.length === 0 ? null : await this.#blobs.put(null, canonicalTar(files));
    return {
      overlay,
      files: files.map(({ path, mode, content, sha256 }) => ({ path, mode, bytes: content.length, sha256 })),
      deletions: [...deletions],
    };
  }

  async #output(output: BoundedOutput): Promise<OutputRef> {
    const { bytes, produced, truncated } = output;
    return {
      blob: bytes.length === 0 ? null : await this.#blobs.put(null, bytes),
      bytes: produced,
      kept: bytes.length,
      truncated,
      tail: utf8Tail(bytes, limits.outputTailBytes),
    };
  }
}
