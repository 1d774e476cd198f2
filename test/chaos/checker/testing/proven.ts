/** A run with all its evidence and its container, for I6 and I8. */
import { digestOf, type BlobRef, type StoredRecord } from "@antiphon/contracts";
import { BASE, planned } from "../../../../run/src/testing/record-log.ts";
import type { ContainerEvent, ContainerJob } from "../history.ts";
import { REPO, Scene, START_MS } from "./scene.ts";

const T1 = "T-001";
const PATCH: BlobRef = blob("diff");
const LOG: BlobRef = blob("stdout");
export const ATTEMPT_KEY = "run.T-001.1";
export const VERDICT_KEY = "run.T-001.1.verdict";

function blob(text: string): BlobRef {
  const digest = digestOf(new TextEncoder().encode(text));
  return { bucket: "ANT_EVIDENCE_FILES", name: digest, digest, bytes: text.length };
}

export function proven(name = "proven"): Scene {
  const scene = new Scene(name).started();
  scene.log
    .opened([planned(T1)])
    .dispatched(T1)
    .claimed(T1)
    .reported(T1, 1, "ok");
  const result = scene.records.at(-1);
  if (result?.type === "result" && result.body.kind === "reported") result.body.patch = PATCH;
  const verdictEvidence = { key: VERDICT_KEY, digest: digestOf(new TextEncoder().encode("verdict")) };
  scene.log.judged(T1, 1, { evidence: verdictEvidence });
  scene.lands(T1, 1, 1);
  const attempt = digestOf(new Uint8Array());
  Object.assign(scene.commits[0]?.trailers ?? {}, { "Antiphon-Evidence": attempt });
  scene.blobs.push({ ...PATCH }, { ...LOG });
  const files = [
    { path: "checks/01.stdout.txt", blob: { ...LOG } },
    { path: "diff.patch", blob: { ...PATCH } },
  ];
  scene.manifests.push({ key: ATTEMPT_KEY, digest: attempt, files });
  scene.manifests.push({ ...verdictEvidence, files: [{ path: "checks/01.stdout.txt", blob: { ...LOG } }] });
  scene.patched.push({ repo: REPO, on: BASE, patch: PATCH.digest, tree: BASE });
  contained(scene, "c1", 10, 50, { runId: scene.runId, taskId: T1, epoch: 1, purpose: "attempt" });
  contained(scene, "c2", 60, 90, { runId: scene.runId, taskId: T1, epoch: 1, purpose: "verify" });
  contained(scene, "c3", 60, 95, { runId: scene.runId, taskId: T1, epoch: 1, purpose: "base" });
  return scene.closed();
}

/** A warm container that is given a job at `fromMs`, ends at `untilMs` and is removed. */
export function contained(
  scene: Scene,
  id: string,
  fromMs: number,
  untilMs: number,
  job: ContainerJob,
): void {
  const event = (
    action: ContainerEvent["action"],
    atMs: number,
    of: ContainerJob | null,
  ): ContainerEvent => ({
    id,
    action,
    atMs: START_MS + atMs,
    job: of,
  });
  scene.containers.push(event("create", 0, null), event("start", 1, null), event("assign", fromMs, job));
  scene.containers.push(event("die", untilMs, job), event("destroy", untilMs + 1, job));
}

export function recordOf<T extends StoredRecord["type"]>(
  scene: Scene,
  type: T,
  epoch?: number,
): Extract<StoredRecord, { type: T }> {
  const found = scene.records.find(
    (record) => record.type === type && (epoch === undefined || record.epoch === epoch),
  );
  if (found === undefined) throw new Error(`the scene has no ${type}`);
  return found as Extract<StoredRecord, { type: T }>;
}
