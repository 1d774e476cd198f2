// Whether a branch is one of a list, whatever way it is written. Pure.
//
// Invariants:
//   BN1 Two names that are one branch on some file system, or that git completes to one ref, are one name here:
//       `main`, `refs/heads/main`, `heads/main`, `MAIN`, and `main` in full-width letters or with invisible ones.
import { pathMatcher } from "@antiphon/git/patch/glob";

const PREFIX = /^(refs\/)?heads\//;
const INVISIBLE = /\p{Default_Ignorable_Code_Point}/gu;

/** BN1. The name as the loosest reader takes it; `refs/heads/heads/main` folds to `main`, too. */
export function foldedBranch(name: string): string {
  let folded = name.normalize("NFKC").replace(INVISIBLE, "").toLowerCase().normalize("NFKC").trim();
  while (PREFIX.test(folded)) folded = folded.replace(PREFIX, "");
  return folded;
}

/** A name of the list with `*` or `?` in it is a pattern: no branch can be called that. */
export function isListedBranch(name: string, list: readonly string[]): boolean {
  const folded = foldedBranch(name);
  return list.some((listed) => {
    const wanted = foldedBranch(listed);
    return /[*?]/.test(wanted) ? pathMatcher([wanted]).matches(folded) : wanted === folded;
  });
}
