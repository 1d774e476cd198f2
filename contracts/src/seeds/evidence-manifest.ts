/** The evidence manifest, `evidence/T-{id}/run-{run_id}/manifest.json` (seed 001). */
import { Type, type Static } from "typebox";
import { BlobRef } from "../shapes/refs.ts";
import { TaskId } from "../shapes/ids.ts";
import { closed, nullable, oneOf } from "../shapes/shape.ts";

export const EvidenceFile = closed(
  {
    path: Type.String({
      minLength: 1,
      maxLength: 1024,
      description:
        "Path in the bundle: `diff.patch`, `checks/01-npm-test.stdout.txt`, `provenance/environment.json`.",
    }),
    blob: BlobRef,
  },
  { description: "One file of the bundle." },
);
export type EvidenceFile = Static<typeof EvidenceFile>;

export const EvidenceCheck = closed(
  {
    command: Type.String({ minLength: 1 }),
    exit_code: nullable(Type.Integer(), { description: "null if it was killed." }),
    duration_ms: Type.Number({ minimum: 0 }),
    timed_out: Type.Boolean(),
    stdout_path: nullable(Type.String({ minLength: 1 }), { description: "Path in the bundle." }),
    stderr_path: nullable(Type.String({ minLength: 1 }), { description: "Path in the bundle." }),
  },
  { description: "One verification command and its outcome." },
);
export type EvidenceCheck = Static<typeof EvidenceCheck>;

export const EvidenceManifest = closed(
  {
    schema_version: Type.Literal(1),
    run_id: Type.String({ minLength: 1 }),
    task_id: TaskId,
    epoch: Type.Integer({ minimum: 0, description: "The attempt." }),
    author: oneOf(["associate", "director"], { description: "Who ran it: the attempt, or the clean room." }),
    author_id: Type.String({ minLength: 1, description: "The process that wrote it." }),
    decision: oneOf(["propose", "needs_input", "fail", "PASS", "FAIL", "FLAKY", "UNVERIFIABLE"], {
      description: "An attempt proposes, asks or fails; the clean room gives a verdict.",
    }),
    summary: Type.String(),
    base_commit: nullable(Type.String({ minLength: 1 })),
    files_changed: Type.Array(Type.String({ minLength: 1 })),
    checks: Type.Array(EvidenceCheck),
    files: Type.Array(EvidenceFile, { description: "Sorted by path." }),
  },
  { description: "The work of an attempt or a clean room, with the location of its proof (seed 001)." },
);
export type EvidenceManifest = Static<typeof EvidenceManifest>;
