/**
 * The message of the last commit that an agent made inside its sandbox. It becomes part of the proposal's summary; the
 * commit itself is never read, because the change is computed from the files. Pure.
 */
import type { SandboxOutcome, SandboxStep } from "@antiphon/contracts";

export const MESSAGE_STEP = "commit-message";

const MAX_CHARS = 1500;

/** An agent that never committed costs one start of a shell: there is no reflog before the first commit. */
const SCRIPT = [
  "[ -s .git/logs/HEAD ] && command -v git >/dev/null 2>&1 || exit 0",
  'limit=""; command -v timeout >/dev/null 2>&1 && limit="timeout 10"',
  '$limit git --no-pager log -1 --no-show-signature --format=%B "$1..HEAD" 2>/dev/null </dev/null | head -c 2000',
  "exit 0",
].join("\n");

export function messageStep(
  baseCommit: string,
  env: Readonly<Record<string, string>>,
  timeoutMs: number,
): SandboxStep {
  const argv = ["sh", "-c", SCRIPT, "sh", baseCommit];
  return { id: MESSAGE_STEP, argv, env: { ...env }, timeoutMs, continueOnFailure: true, quiet: true };
}

/** The message as plain text of a bounded length; null when the agent committed nothing. */
export function insideMessage(outcome: SandboxOutcome | null): string | null {
  const said = outcome?.steps.find(({ id }) => id === MESSAGE_STEP)?.stdout.tail ?? "";
  const text = said
    .replace(/\r\n?/g, "\n")
    .replace(
      /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ufffd]/g,
      " ",
    )
    .replace(/[ ]+$/gm, "")
    .replace(/\n{3,}/g, "\n\n")
    .trim();
  if (text === "") return null;
  return text.length > MAX_CHARS ? `${text.slice(0, MAX_CHARS - 1)}…` : text;
}
