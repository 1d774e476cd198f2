// The statuses of a run in words. Pure, and without the fold of a run, which a list of runs does not need.
import type { RunViewModel } from "@antiphon/contracts";

const STATUS_WORDS: Record<RunViewModel["status"], string> = {
  queued: "waiting for the Router",
  running: "running",
  waiting_input: "waiting for your answer",
  succeeded: "succeeded",
  failed: "failed",
  canceled: "canceled",
};

export function statusWords(status: string): string {
  return Object.hasOwn(STATUS_WORDS, status) ? STATUS_WORDS[status as keyof typeof STATUS_WORDS] : status;
}
