/** After the end of a world, reads back its evidence and applies its diffs. */
import { BUCKETS, digestOf, digestOfJson } from "@antiphon/contracts";
import type { BlobRef, EvidenceManifest, StoredRecord } from "@antiphon/contracts";
import type { History, PatchedTree, StoredBlob, StoredManifest } from "../../chaos/checker/history.ts";
import { namedEvidence, registerOf } from "../../chaos/checker/named-evidence.ts";
import type { StreamModel } from "../server/stream-model.ts";
import type { Objects } from "./sim-blobs.ts";
import { REPO, type SimGit } from "./sim-repository.ts";

export interface EvidencePlaces {
  /** The stream of the bucket of manifests. */
  manifests: StreamModel;
  files: Objects;
  git: SimGit;
}

export function readEvidence(
  records: readonly StoredRecord[],
  { manifests, files, git }: EvidencePlaces,
): Pick<History, "manifests" | "blobs" | "patched"> {
  const { keys, patches } = namedEvidence(records);
  const stored = [...keys].map((key) => manifestAt(manifests, key)).filter((one) => one !== null);
  const wanted = [...patches.values(), ...stored.flatMap((one) => one.files.map(({ blob }) => blob))];
  const names = new Set(wanted.map(({ name }) => name));
  return {
    manifests: stored,
    blobs: [...names].map((name) => blobAt(files, name)).filter((one) => one !== null),
    patched: records.flatMap((record) => patchedBy(record, patches, files, git)),
  };
}

function manifestAt(manifests: StreamModel, key: string): StoredManifest | null {
  const message = manifests.lastOf(`$KV.${BUCKETS.evidence}.${key}`);
  if (message === null) return null;
  const manifest = JSON.parse(Buffer.from(message.data).toString("utf8")) as EvidenceManifest;
  return { key, digest: digestOfJson(manifest), files: manifest.files };
}

function blobAt(files: Objects, name: string): StoredBlob | null {
  const bytes = files.get(name);
  if (bytes === undefined) return null;
  return { bucket: BUCKETS.evidenceFiles, name, digest: digestOf(bytes), bytes: bytes.length };
}

function patchedBy(
  record: StoredRecord,
  patches: ReadonlyMap<string, BlobRef>,
  files: Objects,
  git: SimGit,
): PatchedTree[] {
  if (record.type !== "verdict" || record.body.verdict !== "PASS" || record.body.commit === null) return [];
  const patch = patches.get(registerOf(record));
  const bytes = patch === undefined ? undefined : files.get(patch.name);
  if (patch === undefined || bytes === undefined) return [];
  const { head } = record.body;
  return [{ repo: REPO.path, on: head, patch: patch.digest, tree: git.treeWith(head, bytes) }];
}
