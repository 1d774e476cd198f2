/**
 * Which results of a run were not reported by the holder of the attempt's claim, by the rule of runtime/J14: if the first claim
 * names a key, a report that was stored later counts only under that key's signature. Pure.
 */
import type { Held } from "@antiphon/contracts/stored/run-material";
import { parseSignature, trustIn } from "@antiphon/contracts/stored/signature";
import { registerKey } from "./known-run.ts";

/** Why a result with this digest does not count; null if it does, or if the message is no result. */
export type ReportDoubt = (message: Held, digest: string) => string | null;

export function reportDoubts(messages: readonly Held[]): ReportDoubt {
  const claims = firstClaims(messages);
  return (message, digest) => {
    const { address, signature, record } = message;
    if (address?.type !== "result") return null;
    const claim = claims.get(registerKey({ ...address, type: "claim" }));
    const key = claim?.record?.type === "claim" ? claim.record.body.reporter : undefined;
    if (claim === undefined || key === undefined || isBefore(message, claim)) return null;
    if (record?.type === "result" && record.body.kind === "lapsed") return null;
    return parseSignature(signature)?.kid === key.kid
      ? trustIn([key])(signature, digest)
      : "the Associate that claimed the attempt did not sign it";
  };
}

function firstClaims(messages: readonly Held[]): Map<string, Held> {
  const first = new Map<string, Held>();
  for (const message of messages) {
    if (message.address?.type !== "claim") continue;
    const key = registerKey(message.address);
    const earlier = first.get(key);
    if (earlier === undefined || storedAt(message) < storedAt(earlier)) first.set(key, message);
  }
  return first;
}

const storedAt = ({ seq, storedSeq }: Held): number => storedSeq ?? seq;

/** A restore puts a run's records back in another order, so their first places are compared. */
const isBefore = (message: Held, claim: Held): boolean =>
  storedAt(claim) === claim.seq ? storedAt(message) < claim.seq : message.seq < claim.seq;
