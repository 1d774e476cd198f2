// Writes a run as the files of seed 001: tasks/T-001.yaml and evidence/T-001/run-<runId>.<epoch>/...
// The same run always gives the same files, so an export can be repeated.
//
// Because an export comes from a gateway that is not trusted, it writes no manifest that differs from the digest in its
// record, no file whose bytes differ from the digest in its manifest, and none outside --out, regardless of the paths a
// manifest names (cli/C1).
import { createHash } from "node:crypto";
import { resolve, sep } from "node:path";
import { jsonSchemaOf } from "@antiphon/contracts/registry/json-schema";
import { canonicalJson } from "@antiphon/contracts/wire/codec";
import { layout } from "@antiphon/contracts/documents/layout";
import { stringify } from "yaml";
import { filePath } from "./evidence-view.ts";
import { writeBelow } from "./out-directory.ts";
import { Failure } from "../failure.ts";
import type { GatewayClient } from "../gateway/gateway-client.ts";

export interface ExportResult {
  readonly runId: string;
  readonly out: string;
  readonly files: readonly string[];
}

export async function exportEvidence(
  gateway: GatewayClient,
  runId: string,
  out: string,
): Promise<ExportResult> {
  const root = resolve(out);
  const written: string[] = [];
  const write = (path: string, content: string | Buffer): void => {
    const target = resolve(root, path);
    if (!target.startsWith(root + sep))
      throw new Failure("ANT_EVIDENCE_NOT_FOUND", `a manifest names a path outside the bundle: ${path}`, {}); // cli/C1
    writeBelow(target, content);
    written.push(path);
  };
  const { bundles, contracts, router, opened } = await gateway.get("/runs/{id}/evidence", { id: runId });
  if (router !== null) write(layout.routerContract, stringify(router));
  if (opened != null) write(layout.openedContract, stringify(opened)); // Older gateways do not send it.
  for (const contract of contracts) write(layout.taskContract(contract.id), stringify(contract));
  write(layout.taskSchema, `${JSON.stringify(jsonSchemaOf("TaskContract"), null, 2)}\n`);
  write(layout.manifestSchema, `${JSON.stringify(jsonSchemaOf("EvidenceManifest"), null, 2)}\n`);
  for (const bundle of bundles) {
    const suffix = bundle.kind === "verdict" ? ".verdict" : "";
    const dir = layout.evidence(bundle.taskId, `${runId}.${bundle.epoch}${suffix}`);
    const manifest = Buffer.from(canonicalJson(bundle.manifest), "utf8");
    checkDigest(manifest, bundle.digest, `${dir}/manifest.json`, "its record"); // cli/C1
    write(`${dir}/manifest.json`, `${JSON.stringify(bundle.manifest, null, 2)}\n`);
    for (const file of bundle.manifest.files) {
      const content = await gateway.bytes(
        filePath(runId, bundle.taskId, bundle.epoch, file.path, bundle.kind === "verdict"),
      );
      checkDigest(content, file.blob.digest, file.path, "its manifest"); // cli/C1
      write(`${dir}/${file.path}`, content);
    }
  }
  return { runId, out: root, files: written };
}

function checkDigest(content: Buffer, digest: string, path: string, witness: string): void {
  const actual = `sha256-${createHash("sha256").update(content).digest("base64url")}`;
  if (actual !== digest)
    throw new Failure("ANT_BLOB_CORRUPT", `${path} is ${actual}, ${witness} says ${digest}`, {});
}
