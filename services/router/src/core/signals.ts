/**
 * The vocabulary of the deterministic tier: which words speak for which workflow.
 *
 * The hard part is not to find "error", it is to tell "I get an error" (a fault to find) from
 * "add an error page" (a feature about errors). So reading goes in two steps: phrases that only
 * *mention* a fault are blanked out first (`mute`), then the stems are searched in what is left.
 *
 * Every pattern is linear: no nested repetition, gaps are bounded, so a hostile goal cannot make
 * the Router slow.
 */

export type Signal = {
  readonly workflow: "DEBUG" | "PLAN" | "REVIEW" | "BUILD";
  /** The words as they stand in the goal. */
  readonly match: string;
  /** How sure this signal alone makes us, 0..1. */
  readonly weight: number;
};

type Rule = { readonly pattern: RegExp; readonly weight: number };

/** Only this much of a goal is read: enough for a pasted stack trace, bounded for a pasted log. */
export const READ_CHARS = 16_384;

const MAKE =
  "add|build|create|implement|introduce|write|develop|generate|make|support|provide|extend|improve|update|change|refactor|rename|move|" +
  "remove|delete|replace|migrate|upgrade|convert|document|translate|localise|localize|show|display|render|return|log|report|handle|" +
  "catch|retry|wrap|define|expose|style|redesign|allow|let|enable|configure|set up|send|emit|notify|print|store|count|track|test|" +
  "draft|prepare|put|use|bump|split|extract|port|cover|fall back|roll back|remember|alert|page|ping|stop|start|abort|resume|ignore|collect|group|limit|escape|parse|validate|reject|warn|surface|map|propagate|raise|throw|turn|keep|cache|skip";

/** Politeness and lead-ins before the verb that carries the request. */
const LEAD =
  "(?:please|pls|kindly|can you|could you|would you|can we|could we|we should|we need to|we want to|we must|i want you to|i want to|i need to|" +
  "i would like to|i'd like to|let's|lets|help me|help us|now|also|then|just|todo:?|feat:?|feature:?|chore:?|task:?)";

/** The request opens with a making verb: what follows names the thing to make. */
const OPENS_WITH_MAKE = new RegExp(`^\\W*(?:${LEAD}[\\s,:]+){0,4}(?:${MAKE})\\b`, "i");

const FAULT =
  "errors?|exceptions?|failures?|fail(?:s|ed|ing)?|crash(?:es|ed)?|bugs?|debug|faults?|issues?|problems?|defects?";

/** What a fault word may be an attribute of, wherever it stands: always a thing, never a symptom. */
const THING =
  "handling|handlers?|pages?|boundar(?:y|ies)|class(?:es)?|types?|hierarch(?:y|ies)|middleware|budgets?|taxonomy|catalogue?|templates?|" +
  "track(?:er|ers|ing)|report(?:er|ers|ing)|documentation|docs|enum|interface|injection|recovery|propagation|modes?|flags?|builds?|" +
  "loggers?|logging|panel|toolbar|symbols|endpoint|bars?|reduction|correction|bounty";

/** What a fault word may be an attribute of when somebody asks to make it. */
const MADE_THING =
  "messages?|texts?|codes?|logs?|rates?|counters?|counts?|metrics?|responses?|screens?|dialogs?|toasts?|banners?|states?|formats?|tables?|" +
  "objects?|output|page|notifications?|alerts?|emails?|icons?|colou?rs?|summar(?:y|ies)|lists?|labels?|reports?|events?|limits?|values?|wrapper";

/** Blanked out always: they mention a fault word without claiming a fault. */
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

const DEBUG_RULES: readonly Rule[] = [
  // Machine output: nobody types these by accident.
  { pattern: /\bTraceback \(most recent call last\)/i, weight: 0.99 },
  { pattern: /^\s*at .{1,200}[(/\\].{0,200}:\d+:\d+\)?\s*$/m, weight: 0.99 },
  { pattern: /\bFile "[^"\n]{1,200}", line \d+/, weight: 0.99 },
  {
    pattern: /\b[A-Za-z]*[a-z](?:Error|Exception)\b(?!\s*(?:class|type|page|boundary|handler))/,
    weight: 0.98,
  },
  { pattern: /\bpanic(?:s|ked)?\b(?=[: ])/i, weight: 0.97 },
  {
    pattern:
      /\b(?:segfaults?|segmentation fault|core dumped|SIG(?:SEGV|ABRT|BUS|KILL)|stack overflow|out of memory|OOM[- ]?killed?)\b/i,
    weight: 0.98,
  },
  {
    pattern:
      /\b(?:exit(?:s|ed|ing)?|exit code|exit status|returned) (?:with )?(?:code |status |an? )?(?:non-?zero|[1-9]\d{0,2})\b/i,
    weight: 0.97,
  },
  { pattern: /\b(?:error|fatal|FAIL|ERR!?|failed|not ok|E\d{4}|TS\d{4})\s?[:[]/, weight: 0.97 },
  {
    pattern: /\b(?:E(?:NOENT|ACCES|ADDRINUSE|CONNREFUSED|CONNRESET|PIPE|PERM|MFILE|EXIST)|ERR_[A-Z_]{3,})\b/,
    weight: 0.97,
  },
  { pattern: /\b(?:undefined|null|NaN) (?:is not|has no|reference|pointer)\b/i, weight: 0.96 },
  {
    pattern:
      /\b(?:cannot|can't|could not|couldn't|unable to) (?:read|find|resolve|connect|open|load|import|access|parse|set)\b/i,
    weight: 0.94,
  },
  {
    pattern: /\b(?:module|command|file|symbol|package|class|method|table|column) not found\b/i,
    weight: 0.94,
  },
  {
    pattern:
      /\b(?:returns?|returning|gives?|giving|getting|got|responds? with|answers? with|throws?)(?: an?| us| me)?(?: HTTP)? 5\d\d\b/i,
    weight: 0.95,
  },
  { pattern: /\b(?:gives?|giving|getting|got)(?: an?| us| me)?(?: HTTP)? 4\d\d\b/i, weight: 0.92 },
  {
    pattern:
      /\b(?:expected|assert(?:ion)?)\b.{1,80}\b(?:but (?:got|was|received)|received|to (?:equal|be))\b/i,
    weight: 0.93,
  },
  // People's words for a fault.
  { pattern: /\b(?:hot-?|bug-?)?fix(?:es|ed|ing)?\b/i, weight: 0.93 },
  { pattern: /\bfail(?:s|ed|ing|ure|ures)?\b/i, weight: 0.93 },
  { pattern: /\b(?:broke|broken|breaks|breaking)\b/i, weight: 0.92 },
  { pattern: /\bbugs?\b|\bbuggy\b|\bdefects?\b/i, weight: 0.92 },
  { pattern: /\bcrash(?:es|ed|ing)?\b/i, weight: 0.94 },
  { pattern: /\berrors?\b|\berroring\b|\berroneous(?:ly)?\b/i, weight: 0.9 },
  { pattern: /\bexceptions?\b|\b(?:stack ?trace|backtrace)s?\b/i, weight: 0.9 },
  {
    pattern: /\b(?:debug(?:ging)?|diagnos(?:e|ing)|troubleshoot(?:ing)?|root[- ]cause|bisect)\b/i,
    weight: 0.92,
  },
  { pattern: /\bregress(?:ion|ions|ed|es)\b(?! tests?| suite)/i, weight: 0.9 },
  {
    pattern:
      /\b(?:hangs?|hanging|hung|freez(?:e|es|ing)|froze|stuck|deadlock(?:s|ed)?|infinite loop|race condition)\b/i,
    weight: 0.88,
  },
  {
    pattern:
      /\bleak(?:s|ed|ing|y)\b|\b(?:memory|file descriptor|connection|handle|goroutine|listener) leak\b/i,
    weight: 0.9,
  },
  { pattern: /\b(?:flaky|flakes|intermittent(?:ly)?|sporadic(?:ally)?)\b/i, weight: 0.86 },
  {
    pattern:
      /\b(?:wrong(?:ly)?|incorrect(?:ly)?|corrupt(?:s|ed|ing)?|garbled|off[- ]by[- ]one|mis(?:behav|calculat|align|match)\w{0,6})\b/i,
    weight: 0.86,
  },
  {
    pattern:
      /\b(?:does|do|did|is|are|was|were|will|would|can)(?:n't| not|nt) (?:\w+ ){0,1}(?:work|load|start|compile|build|render|open|parse|connect|save|respond|boot|run|pass|show up|appear|terminate|stop|update|match|return|exit|accept|sort|finish|display|trigger|fire)(?:ing)?\b/i,
    weight: 0.9,
  },
  {
    pattern:
      /\b(?:won't|wont|can't|cannot) (?:\w+ ){0,1}(?:work|load|start|compile|build|render|boot|run|pass|install|log ?in|save|submit|exit|stop|open)\b/i,
    weight: 0.9,
  },
  {
    pattern:
      /\b(?:stopped|not|never|isn't|aren't|quit) (?:working|compiling|building|loading|responding|rendering|starting|passing)\b/i,
    weight: 0.92,
  },
  {
    pattern:
      /\bno longer (?:works?|loads?|starts?|compiles?|builds?|passes|renders?|parses|responds?|appears?)\b/i,
    weight: 0.9,
  },
  { pattern: /\b(?:times|timed|timing) out\b/i, weight: 0.85 },
  {
    pattern: /\b(?:tests?|build|ci|pipeline|suite|main|master) (?:is|are|went|turned|has gone) red\b/i,
    weight: 0.92,
  },
  {
    pattern:
      /\b(?:something|what)(?:'s| is| went| goes) wrong\b|\b(?:issue|problem)s? (?:with|in|when|where|on)\b/i,
    weight: 0.84,
  },
  {
    pattern:
      /\b(?:resolve|investigate|reproduce|track down|look into|solve) (?:the |this |an? |that )?(?:\w+ ){0,2}(?:issue|problem|outage|incident|slowdown)s?\b/i,
    weight: 0.86,
  },
  { pattern: /\bwhy (?:does|do|did|is|are|isn't|doesn't|can't)\b/i, weight: 0.7 },
  { pattern: /\b(?:repair|unbreak|heal|patch up|work ?around)\b/i, weight: 0.8 },
  {
    pattern:
      /\b(?:permission|access) denied\b|\bunhandled (?:promise )?(?:rejection|exception)\b|\b(?:connection|request) refused\b/i,
    weight: 0.94,
  },
  {
    pattern: /\b(?:pass|passes|passing|work|works|green|compile|compiles|build|builds) again\b/i,
    weight: 0.88,
  },
  {
    pattern:
      /\bnothing happens\b|\bcomplain(?:s|ed|ing|ts?)?\b|\bsilently (?:drop|ignor|discard|los|swallow|skip)\w*\b/i,
    weight: 0.8,
  },
  {
    pattern:
      /\b(?:duplicates?|blank|empty|stale|missing|doubled|garbage) (?:[\w-]+ ){0,2}(?:appears?|shows? up|instead|are (?:shown|returned|sent))\b|\binstead of the (?:right|expected|correct)\b/i,
    weight: 0.76,
  },
  {
    pattern:
      /\b(?:upside down|out of (?:order|sync|bounds|range)|a day (?:early|late)|twice by mistake|goes missing|disappears?|unresponsive|unreadable|unexpected(?:ly)?)\b/i,
    weight: 0.74,
  },
];

const PLAN_RULES: readonly Rule[] = [
  {
    pattern: new RegExp(
      `^\\W*(?:${LEAD}[\\s,:]+){0,4}(?:plan|design|architect|outline|propose|brainstorm|estimate|scope out|scope|sketch|think (?:through|about)|figure out|explore|specify|spec out|break down|map out|compare|research|prototype a plan)\\b`,
      "i",
    ),
    weight: 0.9,
  },
  {
    pattern:
      /\b(?:write|create|make|draft|prepare|produce|give (?:me|us)|need|want|come up with|work out|put together|propose|develop|build|outline)(?: me| us)?(?: an?| the| our| some)?(?: [\w-]+){0,3} (?:plan|roadmap|proposal|strategy|rfc|adr|design doc(?:ument)?|design|architecture|spec(?:ification)?|estimate|milestones|breakdown)(?= (?:for|to|of|on|how|that|before|covering|about|with)\b|\W*$)/i,
    weight: 0.88,
  },
  { pattern: /\bhow (?:should|would|could|can|do|might) (?:we|i|you|one)\b/i, weight: 0.82 },
  {
    pattern: /\bwhat (?:would it take|are (?:the|our) options|is the best (?:way|approach)|steps)\b/i,
    weight: 0.84,
  },
  {
    pattern:
      /\b(?:roadmap|rfc|design doc|feasibility|trade-?offs?|pros and cons|step[- ]by[- ]step plan|migration plan|test plan|rollout plan|action plan|architecture (?:for|of|proposal))\b/i,
    weight: 0.78,
  },
  { pattern: /\b(?:plan|design|propose|outline) (?:how|the|a|an|out|for|our)\b/i, weight: 0.75 },
];

const REVIEW_RULES: readonly Rule[] = [
  {
    pattern: new RegExp(
      `^\\W*(?:${LEAD}[\\s,:]+){0,4}(?:re-?review|review|audit|critique|assess|evaluate|inspect|examine|proofread|look over|look at|go over|have a look|take a look|check|verify|analy[sz]e|vet|double-?check|scrutini[sz]e|summari[sz]e|rate|grade|judge)\\b`,
      "i",
    ),
    weight: 0.88,
  },
  {
    pattern:
      /\b(?:do|perform|conduct|run|give|carry out|need|want|request|start)(?: me| us)?(?: an?| the| another| some)?(?: [\w-]+){0,3} (?:review|audit|assessment|critique|inspection|second opinion)\b/i,
    weight: 0.87,
  },
  {
    pattern:
      /\b(?:code|security|peer|design|pr|accessibility|performance|licen[cs]e|dependency) (?:review|audit)\b/i,
    weight: 0.84,
  },
  {
    pattern:
      /\bfeedback on\b|\bsecond opinion\b|\bwhat (?:do )?you think (?:of|about)\b|\b(?:look|search|hunt) for (?:[\w-]+ ){0,2}(?:holes|vulnerabilities|smells|risks|weaknesses|dead code)\b|\b(?:is|are) (?:this|these|my|our|the) [\w -]{1,40} (?:ok|okay|good|safe|secure|idiomatic|correct|readable)\b/i,
    weight: 0.8,
  },
  {
    pattern:
      /\b(?:review|audit)(?:ing)? (?:the|this|my|our|all|pr|pull request|changes|code|commit|diff|for)\b/i,
    weight: 0.8,
  },
];

const BUILD_RULES: readonly Rule[] = [
  {
    pattern: new RegExp(
      `^\\W*(?:${LEAD}[\\s,:]+){0,4}(?:${MAKE}|rewrite|optimi[sz]e|simplify|speed up|clean up|tidy|format|lint|install|deploy|release|publish|integrate|connect|hook up|wire up|ship|drop|disable|increase|reduce|raise|lower|sort|merge|inline|pin|swap|adopt|switch|delete)\\b`,
      "i",
    ),
    weight: 0.85,
  },
  {
    pattern: new RegExp(`\\b(?:${MAKE}|feature|endpoint|button|page|component|option|flag|new)\\b`, "i"),
    weight: 0.7,
  },
];

/** From this weight on a rule matches the request itself, not a thing named in it. */
const ASKED_FOR = 0.87;

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
