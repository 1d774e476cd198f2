/**
 * The transcript of an agent: the file or the output that its pack names, in the bundle as `transcript.<format>`. It is
 * evidence of what the agent says it did; nothing is decided by it. Pure.
 */
import type { PackTranscript, SandboxStepOutcome } from "@antiphon/contracts";
import { pathMatcher } from "@antiphon/git";
import type { Change, ChangedFile } from "../ports.ts";
import type { BundleFile } from "./bundle.ts";

const ENDINGS = { jsonl: "jsonl", json: "json", text: "txt" } as const;

/**
 * Takes the transcript out of the files that the sandbox left, if it is one of them. Where several match, agents name them by time,
 * so the last by name counts.
 */
export function withoutAccount(
  change: Change,
  account: PackTranscript | undefined,
): { readonly change: Change; readonly account: ChangedFile | null } {
  if (account?.file === undefined) return { change, account: null };
  const own = pathMatcher([account.file]);
  const files = change.files.filter(({ path }) => own.matches(path));
  const last = files.toSorted((a, b) => (a.path < b.path ? -1 : 1)).at(-1) ?? null;
  const rest = change.files.filter((file) => !files.includes(file));
  return { change: { ...change, files: rest }, account: last };
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
