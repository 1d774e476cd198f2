/** Signals that a request asks for a plan, for a review, or for something to be built. */
import { LEAD, MAKE } from "./request-verbs.ts";
import type { Rule } from "./signals.ts";

export const PLAN_RULES: readonly Rule[] = [
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

export const REVIEW_RULES: readonly Rule[] = [
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

export const BUILD_RULES: readonly Rule[] = [
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
