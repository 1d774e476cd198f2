/** What a sandbox-runner signs of an outcome: which request it answers, and how the job ended. */
import type { SandboxOutcome, SandboxRequest } from "../rpc/sandbox-rpc.ts";
import { digestOfJson } from "../wire/codec.ts";

/** A request has a job id of its own, so the outcome of another job has another digest. */
export function outcomeDigest(request: SandboxRequest, outcome: SandboxOutcome): string {
  return digestOfJson([request, outcome]);
}
