/** One kind of place that a change may not touch without a grant, with its patterns. */
export interface ProtectedPlace {
  /** A name for the place, for the verdict. */
  readonly what: string;
  /** Each pattern with a path that it closes, and a path close to it that stays open. */
  readonly globs: Readonly<Record<string, readonly [closed: string, open: string]>>;
  /** `always`: closed in every run. A form: closed if the check runs such a program, directly or indirectly. */
  readonly when: "always" | RegExp;
  /** Closes only paths that the base has. */
  readonly existing?: true;
  /** Sources of other repositories have such names, so the name alone does not make a file configuration. */
  readonly ambiguous?: true;
  /** A check loads such a file wherever it appears, and no build makes one: it may not appear while the check runs. */
  readonly loaded?: true;
}
