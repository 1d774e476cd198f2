/**
 * Names that may be passed to git for a commit or a branch: a ref name or a commit id. A revision expression is a small
 * program that git runs (`:/text` reads every commit message, `HEAD~99999` walks that far), so it is refused.
 */

/** Limit of a ref name, and the longest name a ref file can have. */
const MOST_CHARACTERS = 255;

/**
 * The rules of `git check-ref-format --allow-onelevel`, and no part that looks like an option. A whole or abbreviated
 * commit id is also such a name.
 */
export function isRefName(name: string): boolean {
  if (name.length > MOST_CHARACTERS || /[\0-\x20\x7f~^:?*[\\]|\.\.|@\{|\/\/|\.$|\/$/.test(name)) return false;
  return name
    .split("/")
    .every(
      (part) => part !== "" && !part.startsWith(".") && !part.startsWith("-") && !part.endsWith(".lock"),
    );
}
