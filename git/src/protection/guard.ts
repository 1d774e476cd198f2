/** A rule about one place that a change may not touch, with the reason. */
export type GuardRule =
  | "protected.place"
  | "protected.test"
  | "protected.reached"
  | "protected.subject"
  | "protected.discovery"
  | "protected.shadow";

export interface Guard {
  readonly rule: GuardRule;
  /** A glob for `pathMatcher`. */
  readonly glob: string;
  /** One clause for the verdict, for example "npm test -> package.json scripts.test -> scripts/check.js". */
  readonly why: string;
  /** `proof`: open if the check fails without the change. `empty`: open to a new empty file. */
  readonly unless?: "proof" | "empty";
  /** A check loads a new file here, and no build makes one. */
  readonly loaded?: true;
}
