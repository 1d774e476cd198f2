/**
 * The transcript of an agent: the file or the output that its pack names, in the bundle as `transcript.<format>`. It is
 * evidence of what the agent says it did; nothing is decided by it. Pure.
 */
import type { PackTranscript, SandboxStepOutcome } from "@antiphon/contracts";
import { pathMatcher } from "@antiphon/git";
import type { Change, ChangedFile, PreparedWork } from "../ports.ts";
import type { BundleFile } from "./bundle.ts";

const ENDINGS = { jsonl: "jsonl", json: "json", text: "txt" } as const;

/** What an agent wrote about itself in the work tree; null: nothing, or not in a file. */
export interface OwnWords {
  readonly account: ChangedFile | null;
  /** The file with the tokens and the cost that it states. */
  readonly used: ChangedFile | null;
}

/** Takes the files in which the agent writes about itself out of those that the sandbox left. */
export function withoutOwnWords(
  change: Change,
  { account, usage }: Pick<PreparedWork, "account" | "usage">,
): OwnWords & { readonly change: Change } {
  const told = without(change, account?.file);
  const counted = without(told.change, usage?.from?.file);
  return { change: counted.change, account: told.file, used: counted.file };
}

/** Where several files match, agents name them by time, so the last by name counts. */
function without(change: Change, glob: string | undefined): { change: Change; file: ChangedFile | null } {
  if (glob === undefined) return { change, file: null };
  const own = pathMatcher([glob]);
  const files = change.files.filter(({ path }) => own.matches(path));
  const last = files.toSorted((a, b) => (a.path < b.path ? -1 : 1)).at(-1) ?? null;
  const rest = change.files.filter((file) => !files.includes(file));
  return { change: { ...change, files: rest }, file: last };
}

/** Empty: the agent left none. */
export function transcriptOf(
  account: PackTranscript | undefined,
  file: ChangedFile | null,
  steps: readonly SandboxStepOutcome[],
  lastStep: string | null,
): BundleFile[] {
  if (account === undefined) return [];
  const path = `transcript.${ENDINGS[account.format]}`;
  if (account.file !== undefined) return file === null ? [] : [{ path, text: file.content.toString("utf8") }];
  const output = steps.find(({ id }) => id === lastStep)?.stdout;
  if (output === undefined || output.bytes === 0) return [];
  return [output.blob === null ? { path, text: output.tail } : { path, blob: output.blob }];
}
