// Binds an approval to the policy that applied when it was asked for. Pure.
//
// The digest is of the profiles that a repository and a principal have, not of the whole configuration: a change of another
// repository's profile makes no approval stale.
import { canonicalJson, digestOf } from "@antiphon/contracts";
import type { PolicyProfile } from "@antiphon/contracts";

export function policyDigest(holdings: readonly { readonly profile: PolicyProfile }[]): string {
  return digestOf(Buffer.from(canonicalJson(holdings.map(({ profile }) => profile)), "utf8"));
}

/** Why an approval does not count any more; names the profiles that apply now. */
export function policyChanged(
  subject: string,
  holdings: readonly { readonly profile: PolicyProfile }[],
): string {
  const names = holdings.map(({ profile }) => profile.name).join(", ");
  return `the policy of ${subject} (now ${names}) has changed since the approval was asked for`;
}
