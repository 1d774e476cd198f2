// Reads a run's evidence: its records hold the references, the buckets hold manifests and files.
import { AntiphonError, digestOfJson } from "@antiphon/contracts";
import type { RunFacts } from "@antiphon/run";
import type { EvidenceManifest, RouterContract, TaskContract } from "@antiphon/contracts";
import { evidenceOf, fileIn } from "./evidence-index.ts";
import type { EvidenceBundle, EvidencePointer } from "./evidence-index.ts";
import { pageOf, type PageQuery } from "../http/paging.ts";
import type { Backend } from "../ports.ts";

export interface EvidenceAddress {
  readonly task: string;
  readonly epoch: number;
  readonly kind: "attempt" | "verdict";
}

export interface RunEvidence {
  readonly bundles: EvidenceBundle[];
  readonly contracts: TaskContract[];
  readonly router: unknown;
  /** The router contract as the Router opened it, with the goal and the tasks that a closed one leaves out. */
  readonly opened: RouterContract | null;
  /** The cursor of the next page of bundles; null: this is the last one. */
  readonly next: string | null;
}

export interface EvidenceReader {
  all(runId: string, query?: PageQuery): Promise<RunEvidence>;
  bundle(runId: string, at: EvidenceAddress): Promise<EvidenceBundle>;
  file(runId: string, at: EvidenceAddress, path: string): Promise<Buffer>;
}

export function evidenceReader(
  backend: Backend,
  facts: (runId: string) => Promise<RunFacts>,
): EvidenceReader {
  /** Anybody who may write to the bucket can replace a manifest. The record holds the digest of the true one. */
  async function manifestOf({ key, digest }: EvidencePointer): Promise<EvidenceManifest | null> {
    const manifest = await backend.manifest(key);
    const found = manifest === null ? digest : digestOfJson(manifest);
    if (found === digest) return manifest;
    const message = `the evidence ${key} is ${found}, and its record names ${digest}`;
    throw new AntiphonError("ANT_BLOB_CORRUPT", message, { data: { key } });
  }

  async function bundle(runId: string, at: EvidenceAddress): Promise<EvidenceBundle> {
    const isMeant = ({ taskId, epoch, kind }: { taskId: string; epoch: number; kind: string }): boolean =>
      taskId.toLowerCase() === at.task.toLowerCase() && epoch === at.epoch && kind === at.kind;
    const pointer = evidenceOf(await facts(runId)).find(isMeant);
    const manifest = pointer === undefined ? null : await manifestOf(pointer);
    if (pointer !== undefined && manifest !== null) return { ...pointer, manifest };
    const message = `${runId} has no ${at.kind} evidence of ${at.task} at epoch ${at.epoch}`;
    throw new AntiphonError("ANT_EVIDENCE_NOT_FOUND", message);
  }

  /** A finished run without stored documents is archived; a Director derives its contracts from its records. */
  async function taskContract(runId: string, taskId: string, { closed }: RunFacts) {
    const kept = await backend.taskContract(runId, taskId);
    if (kept !== null || closed === null) return kept;
    return (await backend.madeContract(runId, taskId)) as TaskContract | null;
  }

  async function routerContract(runId: string, { closed }: RunFacts): Promise<unknown> {
    const kept = await backend.routerContract(runId);
    if (kept !== null || closed === null) return kept;
    return backend.madeContract(runId, null);
  }

  return {
    async all(runId, query = {}) {
      const known = await facts(runId);
      const { items, next } = pageOf("evidence", evidenceOf(known), (_, index) => index, query);
      const [manifests, contracts, router] = await Promise.all([
        Promise.all(
          items.map(async (pointer) => ({
            pointer,
            manifest: await manifestOf(pointer),
          })),
        ),
        Promise.all(
          (known.tasks ?? []).map(({ planned }) => taskContract(runId, planned.task.task_id, known)),
        ),
        routerContract(runId, known),
      ]);
      const bundles = manifests.flatMap(({ pointer, manifest }) =>
        manifest === null ? [] : [{ ...pointer, manifest }],
      );
      const { routed } = known;
      const opened = routed === null ? null : { router_contract: routed.contract };
      return { bundles, contracts: contracts.filter((contract) => contract !== null), router, opened, next };
    },
    bundle,
    async file(runId, at, path) {
      const { manifest } = await bundle(runId, at);
      const blob = fileIn(manifest, path);
      if (blob !== null) return backend.file(blob);
      const files = manifest.files.map((file) => file.path);
      const message = `the bundle has no file ${JSON.stringify(path)}; it has ${files.join(", ")}`;
      throw new AntiphonError("ANT_EVIDENCE_NOT_FOUND", message, { data: { files } });
    },
  };
}
