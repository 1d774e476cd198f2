/** Cuts a report so that it fits one journal record, however much the attempt wrote. */
import type { AssociateResult } from "@antiphon/contracts";

const bytesOf = (value: unknown): number => new TextEncoder().encode(JSON.stringify(value)).length;

/**
 * The report cut to `maxBytes`: the diff is dropped first, then long lists and texts are cut. The evidence bundle has the
 * full versions.
 */
export function boundResult(result: AssociateResult, maxBytes: number): AssociateResult {
  if (bytesOf(result) <= maxBytes) return result;
  const withoutDiff: AssociateResult = { ...result, diff: null };
  if (bytesOf(withoutDiff) <= maxBytes) return withoutDiff;
  const cut = (text: string, length: number): string =>
    text.length > length ? `${text.slice(0, length - 3)}...` : text;
  const trimmed: AssociateResult = {
    ...withoutDiff,
    summary: cut(result.summary, 4096),
    files_changed: withinBytes(result.files_changed, maxBytes / 4),
    commands_run: result.commands_run.map((run) => ({ ...run, command: cut(run.command, 160) })),
    verify: { ...result.verify, commands: result.verify.commands.map((command) => cut(command, 160)) },
    questions: result.questions.map((question) => cut(question, 2048)),
  };
  if (bytesOf(trimmed) <= maxBytes) return trimmed;
  return { ...trimmed, commands_run: withinBytes(trimmed.commands_run, maxBytes / 4) };
}

/** The leading items that fit into `maxBytes`. */
export function withinBytes<T>(items: readonly T[], maxBytes: number): T[] {
  let left = maxBytes;
  return items.filter((item) => (left -= bytesOf(item) + 1) >= 0);
}
