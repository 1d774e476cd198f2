/** A rule about one place: what a change may not touch, and why. */
export type GuardRule =
  | "protected.place"
  | "protected.test"
  | "protected.reached"
  | "protected.subject"
  | "protected.discovery"
  | "protected.shadow";

export interface Guard {
  readonly rule: GuardRule;
  /** A glob of `pathMatcher`. */
  readonly glob: string;
  /** One clause for the verdict: "npm test -> package.json scripts.test -> scripts/check.js". */
  readonly why: string;
  /** `proof`: open if the check fails without the change. `empty`: open to a new file without content. */
  readonly unless?: "proof" | "empty";
}
