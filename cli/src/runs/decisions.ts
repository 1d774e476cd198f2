// Verifies the Directors' decisions before they are shown. Trusted are the keys of the gateway's deployment; with
// ANTIPHON_DIRECTOR_KEYS set, only those of them that it names.
//
// Promises:
//   cli/C1 Because a gateway is not trusted, a decision that is unsigned, is signed by a key that is not trusted, or
//     differs from what was signed ends the command instead of being shown, and an export writes no file whose bytes
//     differ from the digest in a record or a manifest, and none outside --out.
import { digestOf, encode } from "@antiphon/contracts/wire/codec";
import { parseSignature, thumbprintOf, verifiesRecord } from "@antiphon/contracts/stored/signature";
import { SIGNED_TYPES } from "@antiphon/contracts/journal/record";
import type { DirectorKey } from "@antiphon/contracts";
import { Failure } from "../failure.ts";
import type { GatewayClient, RunRecord } from "../gateway/gateway-client.ts";

export interface Decisions {
  /** Throws ANT_SIGNATURE_INVALID. Records that are not decisions pass. */
  check(record: RunRecord): Promise<void>;
  /** The signers of the decisions checked so far, in words. */
  readonly words: string | null;
}

export function openDecisions(gateway: GatewayClient, trusted: readonly string[]): Decisions {
  const published = new Map<string, DirectorKey>();
  const signers = new Set<string>();
  let verified = 0;

  /** Fetches the published keys once, and again for a key it does not know yet. */
  async function keyOf(kid: string): Promise<DirectorKey | undefined> {
    if (trusted.length > 0 && !trusted.includes(kid)) return undefined; // cli/C1
    if (!published.has(kid)) {
      const { keys } = await gateway.get("/keys");
      // A key whose published id is not its own thumbprint is ignored.
      for (const key of keys) if (thumbprintOf(key.x) === key.kid) published.set(key.kid, key);
    }
    return published.get(kid);
  }

  return {
    async check(record) {
      if (!SIGNED_TYPES.includes(record.type)) return;
      if (record.signature === undefined) throw refused(record, "it is not signed"); // cli/C1
      const signature = parseSignature(record.signature);
      const key = signature === null ? undefined : await keyOf(signature.kid);
      if (signature === null || key === undefined) throw refused(record, "no trusted key signed it");
      if (digestOfRecord(record) !== record.digest)
        throw refused(record, "its content is not what was signed");
      if (!verifiesRecord(key, record.digest, signature.value))
        throw refused(record, "the signature does not verify");
      signers.add(signature.kid);
      verified += 1;
    },
    get words() {
      if (verified === 0) return null;
      const who = [...signers].map((kid) => kid.slice(0, 12)).join(", ");
      return `director ${who}: ${verified} ${verified === 1 ? "decision" : "decisions"} verified`;
    },
  };
}

/** The digest of the stored record, computed from the record received over HTTP. */
function digestOfRecord({ v, type, runId, taskId, epoch, cause, body }: RunRecord): string {
  return digestOf(encode({ v, type, runId, taskId, epoch, cause, body }));
}

function refused(record: RunRecord, why: string): Failure {
  const { type, seq, taskId, runId } = record;
  const what = `${type} of ${taskId ?? "the run"} (${runId}, seq ${seq})`;
  return new Failure("ANT_SIGNATURE_INVALID", `${what}: ${why}`, { data: { seq, runId } });
}
