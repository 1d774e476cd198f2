import { digestOfJson, type EvidenceManifest } from "@antiphon/contracts";
import { factsOf } from "@antiphon/run";
import { RecordLog, planned } from "@antiphon/run/testing/record-log";
import { expect, test } from "vitest";
import type { Backend } from "../ports.ts";
import { evidenceReader } from "./evidence-reader.ts";

const MANIFEST = { schema_version: 1, decision: "FAIL", files: [] } as unknown as EvidenceManifest;
const FORGED = { ...MANIFEST, decision: "PASS" } as EvidenceManifest;
const AT = { task: "T-001", epoch: 1, kind: "attempt" } as const;

/** A run whose record names `MANIFEST`, and a bucket that holds `stored`. */
function readerOver(stored: EvidenceManifest | null) {
  const log = new RecordLog()
    .opened([planned("T-001")])
    .dispatched("T-001")
    .claimed("T-001");
  log.reported("T-001", 1, "ok");
  const last = log.records.at(-1);
  if (last?.type !== "result" || last.body.kind !== "reported") throw new Error("unreachable");
  Object.assign(last.body, { evidence: { key: "k", digest: digestOfJson(MANIFEST) } });
  const backend: Pick<Backend, "manifest" | "taskContract" | "routerContract"> = {
    manifest: () => Promise.resolve(stored),
    taskContract: () => Promise.resolve(null),
    routerContract: () => Promise.resolve(null),
  };
  return evidenceReader(backend as Backend, () => Promise.resolve(factsOf(log.records)));
}

test("a manifest with the digest of its record is shown", async () => {
  expect((await readerOver(MANIFEST).bundle("run_a", AT)).manifest).toEqual(MANIFEST);
});

test("a manifest that was replaced in the bucket is not shown, alone or among others", async () => {
  const reader = readerOver(FORGED);
  for (const shown of [
    reader.bundle("run_a", AT),
    reader.all("run_a"),
    reader.file("run_a", AT, "diff.patch"),
  ])
    await expect(shown).rejects.toMatchObject({ code: "ANT_BLOB_CORRUPT" });
});

test("a manifest that is missing is reported as missing", async () => {
  await expect(readerOver(null).bundle("run_a", AT)).rejects.toMatchObject({
    code: "ANT_EVIDENCE_NOT_FOUND",
  });
});
