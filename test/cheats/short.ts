/** Short forms for the rows of the corpus: names are separated by blanks. */
import type { GuardRule } from "@antiphon/git";

export function words(text: string): string[] {
  return text.split(/\s+/).filter((word) => word !== "");
}

/** Files without text. */
export function empty(names: string): Record<string, string> {
  return Object.fromEntries(words(names).map((name) => [name, ""]));
}

/** Changes that one rule refuses. */
export function refused(rule: GuardRule, changes: string): Record<string, GuardRule> {
  return Object.fromEntries(words(changes).map((change) => [change, rule]));
}
