// Compares branch names regardless of spelling. Pure.
//
// Names that are the same branch on some file system, or that git completes to the same ref, are equal here: `main`,
// `refs/heads/main`, `heads/main`, `MAIN`, and `main` in full-width letters or with invisible characters.
import { pathMatcher } from "@antiphon/git/patch/glob";

const PREFIX = /^(refs\/)?heads\//;
const INVISIBLE = /\p{Default_Ignorable_Code_Point}/gu;

/** The name in its most general form; `refs/heads/heads/main` folds to `main`, too. */
export function foldedBranch(name: string): string {
  let folded = name.normalize("NFKC").replace(INVISIBLE, "").toLowerCase().normalize("NFKC").trim();
  while (PREFIX.test(folded)) folded = folded.replace(PREFIX, "");
  return folded;
}

/** A listed name with `*` or `?` is a pattern, since no branch name can contain these characters. */
export function isListedBranch(name: string, list: readonly string[]): boolean {
  const folded = foldedBranch(name);
  return list.some((listed) => {
    const wanted = foldedBranch(listed);
    return /[*?]/.test(wanted) ? pathMatcher([wanted]).matches(folded) : wanted === folded;
  });
}
