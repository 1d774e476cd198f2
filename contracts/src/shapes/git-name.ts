/**
 * What may be said to git as the name of a commit or a branch: a ref name or a commit id, nothing else. A revision
 * expression is a small program that git runs (`:/text` reads every commit message, `HEAD~99999` walks as far).
 */

/** A ref name's bound, and the longest name a ref file can have. */
const MOST_CHARACTERS = 255;

/**
 * The rules of `git check-ref-format --allow-onelevel`, and no part that could be taken for an option. A commit id, whole
 * or abbreviated, is such a name too.
 */
export function isRefName(name: string): boolean {
  if (name.length > MOST_CHARACTERS || /[\0-\x20\x7f~^:?*[\\]|\.\.|@\{|\/\/|\.$|\/$/.test(name)) return false;
  return name
    .split("/")
    .every(
      (part) => part !== "" && !part.startsWith(".") && !part.startsWith("-") && !part.endsWith(".lock"),
    );
}
