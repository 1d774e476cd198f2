/**
 * The signals in a goal: which words indicate which workflow. Phrases that only mention a fault are blanked out first
 * (`mute`); then the rules are searched in the rest.
 *
 * No pattern holds one unbounded repetition inside another, and gaps are bounded, so a hostile goal cannot make the
 * Router slow.
 */
import { DEBUG_RULES } from "./debug-rules.ts";
import { mute } from "./fault-mentions.ts";
import { BUILD_RULES, PLAN_RULES, REVIEW_RULES } from "./request-rules.ts";
import { OPENS_WITH_MAKE } from "./request-verbs.ts";

export type Signal = {
  readonly workflow: "DEBUG" | "PLAN" | "REVIEW" | "BUILD";
  /** The words in the goal. */
  readonly match: string;
  /** The confidence that this signal alone gives, 0..1. */
  readonly weight: number;
};

export type Rule = { readonly pattern: RegExp; readonly weight: number };

/** router/R2: the rest of a goal is not read. It is enough for a pasted stack trace, and bounds a pasted log. */
export const READ_CHARS = 16_384;

/** A rule of at least this weight matches the request itself, not a thing named in it. */
const ASKED_FOR = 0.87;

function search(workflow: Signal["workflow"], rules: readonly Rule[], text: string): Signal[] {
  const found: Signal[] = [];
  for (const { pattern, weight } of rules) {
    const match = pattern.exec(text)?.[0].replace(/\s+/g, " ").trim();
    if (match && !found.some((signal) => signal.match.toLowerCase() === match.toLowerCase())) {
      found.push({ workflow, match: match.length > 60 ? `${match.slice(0, 57)}...` : match, weight });
    }
  }
  return found;
}

/** All signals in a goal, in the order of precedence: error, plan, review, build. */
export function readSignals(goal: string): Signal[] {
  const text = goal.slice(0, READ_CHARS);
  const made = OPENS_WITH_MAKE.test(text);
  const about = search("PLAN", PLAN_RULES, text);
  // "add a plan picker", "build a review form": after a making verb only strong signals count.
  const strong = (signal: Signal): boolean => !made || signal.weight >= ASKED_FOR;
  return [
    ...search("DEBUG", DEBUG_RULES, mute(text)),
    ...about.filter(strong),
    ...search("REVIEW", REVIEW_RULES, text).filter(strong),
    ...search("BUILD", BUILD_RULES, text),
  ];
}
