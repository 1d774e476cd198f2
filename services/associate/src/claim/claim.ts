/**
 * Decides what to do about a dispatch, given the holder of its claim. The claim is a compare-and-set in the journal, so
 * exactly one process ever holds an attempt.
 */
export type ClaimAnswer =
  /** This process holds the claim, just written or from an earlier delivery. */
  { readonly kind: "ours" } | { readonly kind: "theirs"; readonly holder: string };

export type ClaimStep =
  | { readonly kind: "work" }
  /** The attempt already has its result. */
  | { readonly kind: "settled" }
  /** The holder went silent, since the server has delivered its dispatch to this process. */
  | { readonly kind: "expired"; readonly holder: string }
  /** Another process works on it and may be alive; look again later. */
  | { readonly kind: "wait" };

export function claimStep(answer: ClaimAnswer, deliveries: number, hasResult: boolean): ClaimStep {
  if (hasResult) return { kind: "settled" };
  if (answer.kind === "ours") return { kind: "work" };
  return deliveries > 1 ? { kind: "expired", holder: answer.holder } : { kind: "wait" };
}
