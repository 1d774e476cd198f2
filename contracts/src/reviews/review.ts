/**
 * A review: the findings whose quotes are in the tree, and those that were dropped. Pure.
 *
 * A reviewer may remember a file wrongly or make one up, so its word does not count: each quote is looked up in the file
 * itself. A quote that is on another line than named is kept with the line where it is. A change also removes lines: a quote that
 * is not in the changed file counts if the file held it before, with its line there.
 */
import type { SkillResult } from "../seeds/skill-result.ts";
import type { DroppedFinding, Finding, Severity } from "./findings.ts";
import { inlineMarkdown as inline, markdownText as text } from "./markdown-text.ts";

export interface Review {
  readonly findings: readonly Finding[];
  readonly dropped: readonly DroppedFinding[];
}

/**
 * `texts`: the files of the reviewed tree by path; a file that is not there, or is no text, is absent. `before`: the same of
 * the tree that the reviewed change was made to; empty if no change is reviewed.
 */
export function reviewOf(
  findings: readonly Finding[],
  texts: ReadonlyMap<string, string>,
  before: ReadonlyMap<string, string> = new Map(),
): Review {
  const [files, old] = [texts, before].map(
    (all) => new Map([...all].map(([path, text]) => [path, linesOf(text)])),
  ) as [Map<string, Lines>, Map<string, Lines>];
  const kept: Finding[] = [];
  const dropped: DroppedFinding[] = [];
  for (const finding of findings) {
    const sides = [files.get(finding.file), old.get(finding.file)].filter((side) => side !== undefined);
    const line = sides.map((side) => lineOf(side, finding)).find((at) => at !== null) ?? null;
    if (line !== null) kept.push({ ...finding, line });
    else dropped.push({ finding, reason: sides.length === 0 ? NO_FILE : NO_QUOTE });
  }
  return { findings: kept.sort(worstFirst), dropped };
}

const NO_FILE = "there is no such text file";
const NO_QUOTE = "the quote is not in the file";
const RANK = { error: 0, warning: 1, info: 2 };

function worstFirst(a: Finding, b: Finding): number {
  const byFile = a.file < b.file ? -1 : a.file > b.file ? 1 : a.line - b.line;
  return RANK[a.severity] - RANK[b.severity] || byFile;
}

interface Lines {
  readonly text: string;
  /** Where each line begins. */
  readonly starts: readonly number[];
}

function linesOf(given: string): Lines {
  const text = given.replaceAll("\r\n", "\n");
  const starts = [0];
  for (let at = text.indexOf("\n"); at !== -1; at = text.indexOf("\n", at + 1)) starts.push(at + 1);
  return { text, starts };
}

/** The line of the occurrence nearest to the named line; null: the quote is not there. */
function lineOf({ text, starts }: Lines, { quote, line }: Finding): number | null {
  const wanted = quote.replaceAll("\r\n", "\n").trim();
  if (wanted === "") return null;
  const from = starts[line - 1] ?? text.length;
  const found = [text.lastIndexOf(wanted, from), text.indexOf(wanted, from)].flatMap((at) =>
    at === -1 ? [] : [lineAt(starts, at)],
  );
  return found.sort((a, b) => Math.abs(a - line) - Math.abs(b - line))[0] ?? null;
}

/** The number of the line that holds an offset, by halving. */
function lineAt(starts: readonly number[], offset: number): number {
  let [low, high] = [0, starts.length - 1];
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if ((starts[middle] ?? 0) <= offset) low = middle;
    else high = middle - 1;
  }
  return low + 1;
}

/** The findings that are at least so severe. */
export function blockingIn({ findings }: Review, blocks: Severity): readonly Finding[] {
  return findings.filter(({ severity }) => RANK[severity] <= RANK[blocks]);
}

interface Reviewed {
  readonly runId: string;
  readonly taskId: string;
  readonly goal: string;
  readonly commit: string;
  /** Default: the whole tree is reviewed. */
  readonly diff?: string;
  /** The least severe finding that makes it a rejection. Default: an error. */
  readonly blocks?: Severity;
}

/** The result of the skill `reviewer` (seed 001). */
export function reviewResult(review: Review, about: Reviewed): SkillResult {
  const { findings, dropped } = review;
  const { diff = "", blocks = "error" } = about;
  const decision = blockingIn(review, blocks).length > 0 ? "reject" : "accept";
  const input = { task_id: about.taskId, diff, goal: about.goal, commit: about.commit };
  return {
    skill: "reviewer",
    run_id: about.runId,
    pairs: [{ input, output: { decision, findings, dropped } }],
  };
}

/** "3 findings (1 error, 2 warnings); 1 dropped, because its quote is not in the tree". */
export function reviewSentence({ findings, dropped }: Review): string {
  const by = (["error", "warning", "info"] as const).flatMap((severity) => {
    const count = findings.filter((finding) => finding.severity === severity).length;
    if (count === 0) return [];
    return [severity === "info" || count === 1 ? `${count} ${severity}` : `${count} ${severity}s`];
  });
  const found = findings.length === 1 ? "1 finding" : `${findings.length || "no"} findings`;
  const listed = by.length === 0 ? found : `${found} (${by.join(", ")})`;
  if (dropped.length === 0) return listed;
  const why = dropped.length === 1 ? "because its quote is" : "because their quotes are";
  return `${listed}; ${dropped.length} dropped, ${why} not in the tree`;
}

/** The review for people. The reviewer's texts are data, so they hold no markup of their own. */
export function reviewMarkdown(review: Review, goal: string): string {
  const { findings, dropped } = review;
  const parts = [`# Review: ${inline(goal)}`, `${reviewSentence(review)}.`];
  for (const { severity, file, line, quote, why, suggestion } of findings) {
    parts.push(`## ${severity}: ${inline(file)}:${line}`, block(quote), text(why));
    if (suggestion !== undefined) parts.push(`Suggestion: ${text(suggestion)}`);
  }
  if (dropped.length > 0) parts.push("## Dropped");
  for (const { finding, reason } of dropped)
    parts.push(`- ${inline(finding.file)}:${finding.line}: ${reason}: ${inline(finding.why)}`);
  return `${parts.join("\n\n")}\n`;
}

/** A fence that no line of the quote can close. */
function block(quote: string): string {
  const longest = Math.max(2, ...[...quote.matchAll(/`+/g)].map(([run]) => run.length));
  const fence = "`".repeat(longest + 1);
  return `${fence}\n${quote.replaceAll("\r\n", "\n")}\n${fence}`;
}
