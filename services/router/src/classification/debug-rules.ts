/** Signals that something is broken: machine output, then people's own words. */
import type { Rule } from "./signals.ts";

export const DEBUG_RULES: readonly Rule[] = [
  // Machine output, which people do not type by accident.
  { pattern: /\bTraceback \(most recent call last\)/i, weight: 0.99 },
  { pattern: /^[ \t]*at .{1,200}[(/\\].{0,200}:\d+:\d+\)?[ \t]*$/m, weight: 0.99 },
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
