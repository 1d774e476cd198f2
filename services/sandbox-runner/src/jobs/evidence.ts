/** Stores the evidence of a job in the object store: the kept output of its steps and the tar of its changes. */
import { limits, type OutputRef, type SandboxChanges, type SandboxStepOutcome } from "@antiphon/contracts";
import type { Blobs } from "@antiphon/runtime";
import type { Collected } from "../workspace/collected.ts";
import { utf8Tail, type BoundedOutput } from "../conversation/output-bound.ts";
import { canonicalTar } from "../workspace/tar-writer.ts";

interface Outputs {
  readonly stdout: BoundedOutput;
  readonly stderr: BoundedOutput;
}

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
    return { ...finished, ...(await this.outputs(finished)) };
  }

  async outputs({ stdout, stderr }: Outputs): Promise<Record<"stdout" | "stderr", OutputRef>> {
    const [out, err] = await Promise.all([this.#output(stdout), this.#output(stderr)]);
    return { stdout: out, stderr: err };
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
    const { bytes } = output;
    if (bytes.length === 0) return unkeptOutput(output);
    return { ...unkeptOutput(output), blob: await this.#blobs.put(null, bytes), kept: bytes.length };
  }
}

/** The report of an output that is not kept: its size and its tail. */
function unkeptOutput({ bytes, produced, truncated }: BoundedOutput): OutputRef {
  return { blob: null, bytes: produced, kept: 0, truncated, tail: utf8Tail(bytes, limits.outputTailBytes) };
}
