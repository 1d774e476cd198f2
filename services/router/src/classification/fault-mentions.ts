/**
 * Words that mention a fault without claiming one. It is easy to find "error" in a goal. It is hard to tell "I get an
 * error" (a fault to find) from "add an error page" (a feature about errors).
 */
import { LEAD, MAKE, OPENS_WITH_MAKE } from "./request-verbs.ts";

const FAULT =
  "errors?|exceptions?|failures?|fail(?:s|ed|ing)?|crash(?:es|ed)?|bugs?|debug|faults?|issues?|problems?|defects?";

/** Things that a fault word can describe, as in "error handling"; never a symptom. */
const THING =
  "handling|handlers?|pages?|boundar(?:y|ies)|class(?:es)?|types?|hierarch(?:y|ies)|middleware|budgets?|taxonomy|catalogue?|templates?|" +
  "track(?:er|ers|ing)|report(?:er|ers|ing)|documentation|docs|enum|interface|injection|recovery|propagation|modes?|flags?|builds?|" +
  "loggers?|logging|panel|toolbar|symbols|endpoint|bars?|reduction|correction|bounty";

/** Things that a fault word can describe in a request to make them, as in "add an error message". */
const MADE_THING =
  "messages?|texts?|codes?|logs?|rates?|counters?|counts?|metrics?|responses?|screens?|dialogs?|toasts?|banners?|states?|formats?|tables?|" +
  "objects?|output|page|notifications?|alerts?|emails?|icons?|colou?rs?|summar(?:y|ies)|lists?|labels?|reports?|events?|limits?|values?|wrapper";

/** Always blanked out. */
const MENTIONS: readonly RegExp[] = [
  new RegExp(`\\b(?:${FAULT})[- ](?:${THING})\\b`, "gi"),
  new RegExp(`\\bhandl(?:e|es|ed|ing)(?: [\\w-]+){0,3} (?:${FAULT})\\b`, "gi"),
  /\b(?:error|bug)[- ]free\b/gi,
  /\b(?:without|no|zero)(?: any| more)? (?:errors?|failures?|exceptions?|bugs?|crashes)\b/gi,
  /\bfail(?:ure)?[- ]?(?:over|safe|fast|open|closed|soft)\b/gi,
  /\bbreaking[- ]changes?\b/gi,
  /\bfixed[- ](?:width|size|sized|length|position|positioned|point|header|footer|price|rate|window|seed|height|layout)\b/gi,
  /\b(?:hot)?fix (?:branch|version|release|script)(?:es|s)?\b/gi,
  /\bquick[- ]fix(?:es)? (?:menu|action|button|provider)s?\b/gi,
  /\bwrong[- ](?:password|answer|input|credentials) (?:page|message|screen|hint|counter|dialog)s?\b/gi,
  /\bissue (?:template|tracker|list|board|form|page|label|number|link)s?\b/gi,
  /\bleak(?:s|age)? (?:check|detector|test)(?:er|or|s)?\b/gi,
  /\bdead[- ]?lock (?:detector|detection)\b/gi,
];

/** Blanked out only when the request opens with a making verb. */
const MADE_MENTIONS: readonly RegExp[] = [
  new RegExp(`\\b(?:${FAULT})[- ](?:${MADE_THING})\\b`, "gi"),
  // "retry the upload when it fails", "log a line on error": the condition belongs to the feature.
  /\b(?:when|whenever|if|unless|in case|on|upon|after|once|until|that|which|for|of|about|as|into|with)\b(?:(?!\bnot\b|n't)[^.;:!?\n]){0,80}?\b(?:errors?|exceptions?|fail(?:s|ed|ing|ure|ures)?|crash(?:es|ed)?|times? out|timed out|breaks|broken|wrong|invalid|corrupt(?:ed)?|bugs?)\b/gi,
  new RegExp(
    `^(\\W*(?:${LEAD}[\\s,:]+){0,4}(?:${MAKE})\\b(?: (?:a|an|the|all|any|some|more|better|new|custom|friendly|typed|coded|clear|clearer|nicer|our|their|its|every|each|known|unknown|unexpected|unhandled|network|validation|parse|parser|type|http|api|database))* )(?:${FAULT})\\b`,
    "gi",
  ),
];

/** Turns words that only mention a fault into blanks of the same length. */
export function mute(goal: string): string {
  const rules = OPENS_WITH_MAKE.test(goal) ? [...MENTIONS, ...MADE_MENTIONS] : MENTIONS;
  let text = goal;
  for (const rule of rules) {
    text = text.replace(rule, (whole: string, head: unknown) => {
      const kept = typeof head === "string" ? head : "";
      return kept + " ".repeat(whole.length - kept.length);
    });
  }
  return text;
}
