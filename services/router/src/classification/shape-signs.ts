/** What a request looks like, in any language: machine output, questions, references, length. */

export type ShapeSign = {
  readonly name: string;
  readonly seen: (text: string) => boolean;
  /** Worth telling a person as a reason. */
  readonly tells?: true;
};

const matches = (pattern: RegExp) => (text: string) => pattern.test(text);
const between = (least: number, most: number) => (text: string) =>
  text.length >= least && text.length <= most;

/** A word in front that people and tools label titles with: `[Bug]`, `fix(parser):`, `RFC -`. */
const labelled = (kinds: string) =>
  matches(new RegExp(`^[^\\p{L}\\p{N}]{0,8}(?:${kinds})(?:\\([^)]{1,30}\\))?!?(?: ?[\\]:)|]| -)`, "iu"));

/** No pattern holds one unbounded repetition inside another. */
export const SHAPE_SIGNS: readonly ShapeSign[] = [
  {
    name: "a stack trace",
    tells: true,
    seen: matches(
      /\n\s{0,8}at \S|Traceback|goroutine \d|panicked at|\b(?:File "[^"]{1,200}", line \d|[\w-]{1,60}\.(?:py|go|js|ts|java|rb|rs|kt|c|cpp|php|cs|tsx|jsx|vue|swift|dart):\d)/,
    ),
  },
  {
    name: "an error name",
    tells: true,
    seen: matches(
      /\b[A-Za-z.]{0,60}[a-z](?:Error|Exception|Fault)\b|\b(?:SIG[A-Z]{3,4}|E[A-Z]{4,14})\b|\bORA-\d|\berror(?:\[|: )|\b0x[0-9a-fA-F]{6}/,
    ),
  },
  {
    name: "an error status",
    tells: true,
    seen: matches(
      /\b(?:HTTP|status|code|returns?|gives?|got|with|a|error|erreur|fehler|erro|exit)[ :]{1,2}(?:code )?[45]\d\d\b|exit(?:ed|s)?(?: with)?(?: status| code)? \d|\b50[0-4]\b/i,
    ),
  },
  {
    name: "a log line",
    tells: true,
    seen: matches(/\b(?:ERROR|FATAL|WARN|CRITICAL|FAIL(?:ED)?|npm ERR!)\b|\d\d:\d\d:\d\d/),
  },
  { name: "an end with a question mark", tells: true, seen: matches(/[?？]\s*$/) },
  { name: "a question", seen: matches(/[?？]/) },
  {
    name: "a reference to a change",
    tells: true,
    seen: matches(/(?:^|[\s(])[#!]\d+|\b(?:PR|MR)[ #!]{0,2}\d|\b[0-9a-f]{7,40}\b/),
  },
  {
    name: "a label in front",
    seen: matches(/^\s*(?:\[[^\]]{1,30}\]|[A-Za-z-]{2,20}(?:\([^)]{1,30}\))?!?:)\s/),
  },
  {
    name: "a label of a fault in front",
    seen: labelled("bugs?|bug ?fix|bug report|fix(?:es|ed)?|hot ?fix|defect|crash|regression|issue|problem"),
  },
  {
    name: "a label of work in front",
    seen: labelled(
      "feat|features?|feature[ -]req(?:uest)?|req(?:uest)?|enh|enhancement|improvement|suggestion|idea|wish|task|story|new|add|chore|refactor|docs?|style|perf|tests?|build|ci|i18n",
    ),
  },
  {
    name: "a label of a plan in front",
    seen: labelled(
      "rfc(?: ?\\d{1,5})?|adr(?: ?\\d{1,5})?|discuss(?:ion)?|proposal|design(?: doc| proposal)?|meta|spike|roadmap|tracking|umbrella|plan(?:ning)?|research|decision|needs-decision|scope|concept",
    ),
  },
  {
    name: "a label of a review in front",
    seen: labelled("(?:code |peer |security )?reviews?(?: request| requested)?|rfr|ptal|audit|feedback"),
  },
  { name: "code", seen: matches(/`|\b\w+\(\)|[a-z]_[a-z]|[a-z][A-Z]/) },
  { name: "a path", seen: matches(/[\w-]\/[\w-]|\.\w{2,4}\b/) },
  { name: "several lines", seen: matches(/\n/) },
  { name: "a blank line", seen: matches(/\n\s{0,8}\n/) },
  { name: "an arrow", seen: matches(/->|=>|→/) },
  { name: "a full stop at the end", seen: matches(/[.。!！]\s*$/) },
  { name: "no full stop at all", seen: (text) => !/[.。!！?？]/.test(text) },
  { name: "a small first letter", seen: matches(/^\s*\p{Ll}/u) },
  { name: "numbers", seen: matches(/\d/) },
  { name: "a percentage or duration", seen: matches(/\d ?(?:%|ms\b|s\b|sec|min|mb\b|gb\b|h\b)/i) },
  { name: "a version", seen: matches(/\bv?\d+\.\d+/) },
  { name: "few words", seen: between(0, 45) },
  { name: "one sentence", seen: between(46, 90) },
  { name: "two sentences", seen: between(91, 170) },
  { name: "a paragraph", seen: between(171, 100_000) },
];
