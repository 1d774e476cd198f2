/**
 * Decides what to do about a delivery of a dispatch: first from the holder of its claim, then from the end of the work.
 * The claim is a compare-and-set in the journal, so exactly one process ever holds an attempt.
 */
import { limits, type ClaimBody, type ResultBody } from "@antiphon/contracts";
import type { Outcome } from "@antiphon/runtime";
import type { AttemptEnd } from "../attempt/attempt-end.ts";
import type { Holder } from "./holder-signs.ts";

/** The delivery is over, after the result of the attempt was recorded if there is one to record. */
export type Settlement = Outcome | { readonly kind: "record"; readonly body: ResultBody };

/**
 * The redelivery delay of a dispatch that some Associate works on. A heartbeat cancels the delayed redelivery, and the delay is
 * longer than the pause between two heartbeats (at most half of the ack wait, also in the release before). So the dispatch
 * comes back only when its holder is silent.
 */
const LOOK_AGAIN_MS = limits.associateAckWaitMs / 2 + 1000;
export const LOOK_AGAIN: Outcome = { kind: "retry", delayMs: LOOK_AGAIN_MS, code: "ANT_CLAIM_LOST" };

/**
 * `holder`: the other Associate that holds the claim; null: this process does, just now or from an earlier delivery.
 * `look`: the server has not heard from the holder for the ack wait.
 */
export function afterClaim(
  holder: ClaimBody | null,
  deliveries: number,
  hasResult: boolean,
): Settlement | { readonly kind: "work" } | { readonly kind: "look"; readonly holder: ClaimBody } {
  if (hasResult) return { kind: "done" };
  if (holder === null) return { kind: "work" }; // associate/A1
  return deliveries > 1 ? { kind: "look", holder } : LOOK_AGAIN;
}

/** A holder that works tells the server so; one that nothing is known of has until the Director's deadline. */
export function afterLook(seen: Holder, holder: string, observer: string): Settlement {
  if (seen === "working" || seen === "unknown") return LOOK_AGAIN;
  return { kind: "record", body: { kind: "lapsed", observer, holder } };
}

export function afterWork(end: AttemptEnd, associate: string): Settlement {
  const abandoned = (fault: { code: string; message: string; outage?: true }): Settlement => ({
    kind: "record",
    body: { kind: "abandoned", associate, ...fault },
  });
  if (end.kind === "reported") return { kind: "record", body: end.body };
  if (end.kind === "abandoned") return abandoned(end);
  switch (end.why) {
    case "canceled":
      return { kind: "done" }; // the Director closes the run by itself
    case "fenced":
      // associate/A2: an ack could cancel the redelivery to another Associate.
      return end.left === undefined ? LOOK_AGAIN : abandoned(end.left); // associate/A1
    case "draining":
      return abandoned({
        code: "ANT_ASSOCIATE_DRAINING",
        message: "the Associate was stopped before the attempt ended",
      });
  }
}
