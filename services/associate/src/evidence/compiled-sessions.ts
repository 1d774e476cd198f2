/**
 * Sessions of agents that compile. The evidence of their attempt has them; an index says which attempt answered a request.
 * A session is found only if the Director's verdict on its change, which no Associate can write, is PASS.
 */
import { AntiphonError, keys, type EvidenceManifest } from "@antiphon/contracts";
import type { Blobs, Kv } from "@antiphon/runtime";
import type { Compiled, SessionOrigin } from "../ports.ts";
import type { KeptSession } from "./compile-answer.ts";

export function compiledSessions(index: Kv, manifests: Pick<Kv, "get">, files: Pick<Blobs, "get">): Compiled {
  async function find(replayKey: string): Promise<KeptSession | null> {
    const origin = (await index.get<SessionOrigin>(replayKey))?.value;
    if (origin === undefined) return null;
    const { run, task, epoch, blob } = origin;
    const verdict = await manifests.get<EvidenceManifest>(keys.verdictEvidence(run, task, epoch));
    if (verdict?.value.decision !== "PASS") return null;
    try {
      return JSON.parse((await files.get(blob)).toString("utf8")) as KeptSession;
    } catch (thrown) {
      // Evidence may be removed at any time; the request is asked anew then.
      if (AntiphonError.from(thrown).code !== "ANT_BLOB_MISSING") throw thrown;
      return null;
    }
  }
  return {
    find,
    async keep(replayKey, origin) {
      if ((await find(replayKey)) === null) await index.put(replayKey, origin);
    },
  };
}
