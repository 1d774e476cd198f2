/** The records of a journal that no service folded, because their signature is not trusted. Pure. */
import { SIGNED_TYPES } from "@antiphon/contracts/journal/record";
import type { Doubt } from "@antiphon/contracts/stored/signature";
import type { Held } from "@antiphon/contracts/stored/run-material";
import type { FaultMap } from "./fault-map.ts";
import { reportDoubts } from "./reporters.ts";

/**
 * Reports decisions without a trusted signature and foreign reports of an attempt, and returns those that are not part of the run: no service folded
 * them, so they cause no other fault. A decision that another record names as its cause was folded once. It was changed
 * since, or this check trusts other keys than the services do, so it stays part of the run.
 */
export function forgeries(
  messages: readonly Held[],
  doubt: Doubt,
  faults: FaultMap,
): (message: Held) => boolean {
  const causes = messages.flatMap(({ record }) => (record === null ? [] : (record.cause?.seq ?? [])));
  const named = new Set(causes);
  const forged = new Set<Held>();
  const reportDoubt = reportDoubts(messages);
  for (const message of messages) {
    const { address, signature, digest, claimed, problem, seq } = message;
    const doubtOf = (under: string): string | null =>
      isDecision(address) ? doubt(signature, under) : reportDoubt(message, under);
    const why = doubtOf(digest);
    if (why === null) continue;
    // Signatures cover the digest. A damaged payload under a good signature is reported as damaged, not as forged.
    const wasSigned = problem !== null && claimed !== "" && doubtOf(claimed) === null;
    if (wasSigned && named.has(seq)) continue;
    faults.forged(message, why);
    if (!named.has(seq)) forged.add(message);
  }
  return (message) => forged.has(message);
}

export const isDecision = (address: Held["address"]): boolean =>
  address !== null && SIGNED_TYPES.includes(address.type);
