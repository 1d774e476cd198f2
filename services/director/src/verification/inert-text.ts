/**
 * An agent's text for a commit message, in which nothing acts. Pure. A forge obeys a message: `fixes #1` closes an issue,
 * `@name` calls a person, a line `/close` is a command. Only the person who asks for a run may do that, by the goal.
 *
 * The words stay and can be read. Only the sign that a forge looks for is changed, and visibly.
 */

const NUMBER_OF_ISSUE = /(\w?)#(?=\d)/g;
const WORD_OF_TRACKER = /#(?=[A-Za-z_])/g;
const NUMBER_IN_URL =
  /\/(issues?|pulls?|pull-requests|merge_requests|work_items|discussions|epics)\/(?=\d)/gi;
/** `GH-1` is an issue everywhere, the key of another tracker (`ABC-1`) only after one of its verbs. */
const GITHUB_KEY = /\bGH-(?=\d)/gi;
const KEY_AFTER_VERB =
  /\b((?:clos|fix|resolv|implement|complet)[a-z]{0,4}:? {1,4}[A-Z][A-Z0-9]{1,20})-(?=\d)/gi;
const MENTION = /(?<![A-Za-z0-9])@(?=[A-Za-z0-9_])/g;
const COMMAND = /^([ \t]{0,8}\/[a-z][a-z_-]{0,40})(?=\s|$)/gim;

export function inertText(text: string): string {
  return text
    .replace(NUMBER_IN_URL, "/$1 no. ")
    .replace(NUMBER_OF_ISSUE, (_, before: string) => (before === "" ? "no. " : `${before} no. `))
    .replace(WORD_OF_TRACKER, "# ")
    .replace(GITHUB_KEY, "GH ")
    .replace(KEY_AFTER_VERB, "$1 ")
    .replace(MENTION, "@ ")
    .replace(COMMAND, "> $1");
}
