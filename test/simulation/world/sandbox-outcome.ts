/**
 * The result of a job in a simulated sandbox. A check judges a change the same way each time, except for a rare flake. An
 * attempt makes a different change each time it runs, as agents do.
 */
import {
  digestOf,
  fnv1a,
  type BlobRef,
  type SandboxOutcome,
  type SandboxRequest,
  type SandboxStepOutcome,
} from "@antiphon/contracts";
import type { Chance } from "../chance.ts";
import type { Objects } from "./sim-blobs.ts";

export interface Circumstances {
  containerId: string;
  killed: boolean;
  /** It was canceled, and what it left was collected. */
  collects: boolean;
  chance: Chance;
  files: Objects;
}

const OUTPUT = { blob: null, bytes: 0, kept: 0, truncated: false, tail: "" };

export function outcomeOf(request: SandboxRequest, facts: Circumstances): SandboxOutcome {
  const { containerId, killed, collects, chance, files } = facts;
  const meta = { bootMs: 10, provider: "docker" as const, node: "sim", image: "sim", containerId };
  const plain = { message: "", code: null, steps: [], changes: null, meta };
  if (killed) {
    const canceled = { outcome: "canceled", code: "ANT_SANDBOX_CANCELED", message: "canceled" } as const;
    const work = request.steps.find(({ id }) => id.startsWith("work"));
    if (!collects || work === undefined) return { ...plain, ...canceled };
    const steps = [{ ...stepOf(work.id, 0), exitCode: null }];
    return { ...plain, ...canceled, steps, changes: changesOf(containerId, chance, files) };
  }
  const odd = chance.next();
  if (odd < 0.02) return { ...plain, outcome: "oom", code: "ANT_SANDBOX_OOM", message: "out of memory" };
  if (odd < 0.05)
    return { ...plain, outcome: "error", code: "ANT_SANDBOX_FAILED", message: "the engine failed" };
  const trial = (): SandboxStepOutcome[] =>
    request.steps.map((step) => stepOf(step.id, exitOf(request, step.id, chance)));
  const steps = trial();
  // The runner reports what was written only for a job of trials.
  const trials =
    request.trials === undefined
      ? {}
      : {
          trials: request.trials.least > 1 ? [trial()] : [],
          written: { changed: [], restored: [], made: [], complete: true },
        };
  const changes =
    request.collect && steps.every((step) => !step.id.startsWith("work") || step.exitCode === 0)
      ? changesOf(containerId, chance, files)
      : null;
  return { ...plain, outcome: "completed", message: "ran", steps, changes, ...trials };
}

function exitOf(request: SandboxRequest, step: string, chance: Chance): number {
  if (request.purpose === "attempt") return step.startsWith("work") && chance.hit(0.08) ? 1 : 0;
  if (request.purpose === "base") return 1;
  if (chance.hit(0.02)) return 1; // A flake.
  const change = request.workspace.overlay?.digest ?? request.workspace.tree ?? "";
  return fnv1a(change) % 100 < 12 ? 1 : 0;
}

function changesOf(
  containerId: string,
  chance: Chance,
  files: Objects,
): NonNullable<SandboxOutcome["changes"]> {
  if (chance.hit(0.03)) return { overlay: null, files: [], deletions: [] };
  const broken = chance.hit(0.04) ? "broken " : "";
  const content = Buffer.from(`${broken}change made in ${containerId}`);
  const overlay = storeFile(files, content);
  return { overlay, files: [], deletions: [] };
}

function storeFile(files: Objects, content: Buffer): BlobRef {
  const digest = digestOf(content);
  files.set(digest, content);
  return { bucket: "ANT_EVIDENCE_FILES", name: digest, digest, bytes: content.length };
}

function stepOf(id: string, exitCode: number): SandboxStepOutcome {
  return { id, exitCode, timedOut: false, durationMs: 1, stdout: OUTPUT, stderr: OUTPUT };
}
