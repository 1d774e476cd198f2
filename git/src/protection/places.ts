/**
 * The places that a change may not touch without a grant: the files that decide how a repository is built, checked,
 * reviewed and run. Pure data.
 *
 * A place also closes paths that do not exist yet, because a new `.npmrc` changes a verdict as much as an edited one;
 * `existing` places close only paths that the base has.
 */
import { BUILD_PLACES } from "./build-places.ts";
import { LANGUAGE_PLACES } from "./language-places.ts";
import { LINTER_PLACES } from "./linter-places.ts";
import { PRODUCT_PLACES } from "./product-places.ts";
import type { ProtectedPlace } from "./protected-place.ts";
import { REPOSITORY_PLACES } from "./repository-places.ts";
import { RUNNER_PLACES } from "./runner-places.ts";
import { SCRIPT_PLACES } from "./script-places.ts";

export const PROTECTED_PLACES: readonly ProtectedPlace[] = [
  ...REPOSITORY_PLACES,
  ...LINTER_PLACES,
  ...SCRIPT_PLACES,
  ...RUNNER_PLACES,
  ...BUILD_PLACES,
  ...LANGUAGE_PLACES,
  ...PRODUCT_PLACES,
];

/** True for configuration by its name, whichever programs run. */
export function isConfiguration(path: string): boolean {
  return CONFIGURATION.test(path);
}

/** One regular expression for a whole list. It is safe here because the table is our own. */
export function formOf(globs: readonly string[]): RegExp {
  return new RegExp(`^(?:${globs.map(formText).join("|")})$`);
}

function formText(glob: string): string {
  return glob.replace(/\*\*\/|\*\*|\*|[{},]|[.+^$()|[\]\\]/g, (part) => FORMS[part] ?? `\\${part}`);
}

const FORMS: Readonly<Record<string, string>> = {
  "**/": "(?:.*/)?",
  "**": ".*",
  "*": "[^/]*",
  "{": "(?:",
  "}": ")",
  ",": "|",
};

const CONFIGURATION = formOf(
  PROTECTED_PLACES.filter(({ ambiguous }) => ambiguous !== true).flatMap(({ globs }) => Object.keys(globs)),
);
