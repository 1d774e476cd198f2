/**
 * What to do about a dispatch once its claim register has spoken. The claim is a compare-and-set in the journal,
 * so exactly one incarnation of one Associate ever holds an attempt (J4).
 */
export type ClaimAnswer =
  /** The register holds our own claim, just written or from an earlier delivery to this process. */
  { readonly kind: "ours" } | { readonly kind: "theirs"; readonly holder: string };

export type ClaimStep =
  | { readonly kind: "work" }
  /** The attempt has its result already: nothing to do. */
  | { readonly kind: "settled" }
  /** The holder went silent: the server delivered its dispatch to us. */
  | { readonly kind: "lapse"; readonly holder: string }
  /** Somebody else works on it and nothing says that it died: look again later. */
  | { readonly kind: "wait" };

export function claimStep(answer: ClaimAnswer, deliveries: number, hasResult: boolean): ClaimStep {
  if (hasResult) return { kind: "settled" };
  if (answer.kind === "ours") return { kind: "work" };
  return deliveries > 1 ? { kind: "lapse", holder: answer.holder } : { kind: "wait" };
}
