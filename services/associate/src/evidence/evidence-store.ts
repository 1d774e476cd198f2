/** Stores evidence: the files in the object store under their digests, the manifest in KV under the attempt's key. */
import { digestOfJson, keys } from "@antiphon/contracts";
import type { EvidenceFile, EvidenceManifest } from "@antiphon/contracts";
import type { Blobs, Kv } from "@antiphon/runtime";
import { DIFF_FILE } from "./bundle.ts";
import type { EvidenceStore, Recordings } from "../ports.ts";

export function evidenceStore(files: Blobs, manifests: Kv): EvidenceStore {
  const bundleOf: EvidenceStore["bundleOf"] = async (runId, taskId, epoch) =>
    (await manifests.get<EvidenceManifest>(keys.evidence(runId, taskId, epoch)))?.value ?? null;
  const text: EvidenceStore["text"] = async ({ blob }) => (await files.get(blob)).toString("utf8");
  return {
    bundleOf,
    text,
    store: (bundle) =>
      Promise.all(
        bundle.map(async (file): Promise<EvidenceFile> => {
          if ("blob" in file) return { path: file.path, blob: file.blob };
          return { path: file.path, blob: await files.put(null, Buffer.from(file.text, "utf8")) };
        }),
      ),
    async publish(manifest) {
      const key = keys.evidence(manifest.run_id, manifest.task_id, manifest.epoch);
      // Only the holder of the claim writes this key; after a second delivery it writes the same attempt again.
      await manifests.put(key, manifest);
      return { key, digest: digestOfJson(manifest) };
    },
    async diffOf(runId, taskId, epoch) {
      const bundle = await bundleOf(runId, taskId, epoch);
      const diff = bundle?.files.find(({ path }) => path === DIFF_FILE);
      return diff === undefined ? null : text(diff);
    },
  };
}

export function recordings(bucket: Blobs): Recordings {
  return {
    async find(replayKey) {
      const name = keys.recording(replayKey);
      if (!(await bucket.has(name))) return null;
      return JSON.parse((await bucket.get(name)).toString("utf8")) as unknown;
    },
  };
}
