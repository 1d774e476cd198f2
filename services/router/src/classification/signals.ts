/**
 * The signals in a goal: which words speak for which workflow. Reading goes in two steps: phrases that only mention a
 * fault are blanked out (`mute`), then the rules are searched in what is left.
 *
 * Every pattern is linear: no nested repetition, gaps are bounded, so a hostile goal cannot make the Router slow (R4).
 */
import { DEBUG_RULES } from "./debug-rules.ts";
import { mute } from "./fault-mentions.ts";
import { BUILD_RULES, PLAN_RULES, REVIEW_RULES } from "./request-rules.ts";
import { OPENS_WITH_MAKE } from "./request-verbs.ts";

export type Signal = {
  readonly workflow: "DEBUG" | "PLAN" | "REVIEW" | "BUILD";
  /** The words as they stand in the goal. */
  readonly match: string;
  /** How sure this signal alone makes us, 0..1. */
  readonly weight: number;
};

export type Rule = { readonly pattern: RegExp; readonly weight: number };

/** Only this much of a goal is read: enough for a pasted stack trace, bounded for a pasted log. */
export const READ_CHARS = 16_384;

/** From this weight on a rule matches the request itself, not a thing named in it. */
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

/** All signals in a goal, strongest workflow order first (error, plan, review, build). */
export function readSignals(goal: string): Signal[] {
  const text = goal.slice(0, READ_CHARS);
  const made = OPENS_WITH_MAKE.test(text);
  const about = search("PLAN", PLAN_RULES, text);
  // "add a plan picker", "build a review form": a making verb in front needs the strong form.
  const strong = (signal: Signal): boolean => !made || signal.weight >= ASKED_FOR;
  return [
    ...search("DEBUG", DEBUG_RULES, mute(text)),
    ...about.filter(strong),
    ...search("REVIEW", REVIEW_RULES, text).filter(strong),
    ...search("BUILD", BUILD_RULES, text),
  ];
}
