/** The verb that carries a request: the words that stand in front of it, and the verbs that ask to make something. */

export const MAKE =
  "add|build|create|implement|introduce|write|develop|generate|make|support|provide|extend|improve|update|change|refactor|rename|move|" +
  "remove|delete|replace|migrate|upgrade|convert|document|translate|localise|localize|show|display|render|return|log|report|handle|" +
  "catch|retry|wrap|define|expose|style|redesign|allow|let|enable|configure|set up|send|emit|notify|print|store|count|track|test|" +
  "draft|prepare|put|use|bump|split|extract|port|cover|fall back|roll back|remember|alert|page|ping|stop|start|abort|resume|ignore|collect|group|limit|escape|parse|validate|reject|warn|surface|map|propagate|raise|throw|turn|keep|cache|skip";

/** Politeness and lead-ins before the verb that carries the request. */
export const LEAD =
  "(?:please|pls|kindly|can you|could you|would you|can we|could we|we should|we need to|we want to|we must|i want you to|i want to|i need to|" +
  "i would like to|i'd like to|let's|lets|help me|help us|now|also|then|just|todo:?|feat:?|feature:?|chore:?|task:?)";

/** The request opens with a making verb, so the words after it name the thing to make. */
export const OPENS_WITH_MAKE = new RegExp(`^\\W*(?:${LEAD}[\\s,:]+){0,4}(?:${MAKE})\\b`, "i");
