/**
 * Completes the feedback on the newest rejected attempt: of each failed check the sections that say why, read from the whole
 * output. A record has room for the last 2 KiB of it only, and none if the attempt's own verification failed. The stored
 * output only helps the agent, so an attempt does without it if it cannot be read.
 */
import type { BlobRef, CheckOutcome, DispatchBody } from "@antiphon/contracts";
import type { AttemptPorts } from "../ports.ts";
import { failingSections } from "./failing-sections.ts";

/** Of each check. */
export const SECTION_CHARS = 8192;

type Where = { readonly runId: string; readonly dispatch: DispatchBody };
type Ports = Pick<AttemptPorts, "evidence" | "log">;

export async function withSections({ runId, dispatch }: Where, ports: Ports): Promise<DispatchBody> {
  const last = dispatch.feedback.at(-1);
  if (last === undefined) return dispatch;
  try {
    const own = last.checks.length > 0 ? last.checks : await ownChecks(runId, dispatch, last.epoch, ports);
    const checks = await Promise.all(own.map((check) => withSection(check, ports)));
    return { ...dispatch, feedback: [...dispatch.feedback.slice(0, -1), { ...last, checks }] };
  } catch (error) {
    ports.log.warn({ err: error, run: runId }, "the output of the attempt before cannot be read");
    return dispatch;
  }
}

async function withSection(check: CheckOutcome, { evidence }: Ports): Promise<CheckOutcome> {
  const { stdout, stderr, exitCode } = check;
  const blobs = [stdout, stderr].filter((blob): blob is BlobRef => blob !== null);
  if (exitCode === 0 || blobs.length === 0) return check;
  const texts = await Promise.all(blobs.map((blob) => evidence.text({ path: "", blob })));
  const whole = texts.map((text) => text.trimEnd()).join("\n");
  // Short output is in no blob, so what is only in the tail stays.
  return whole.length < check.tail.length ? check : { ...check, tail: failingSections(whole, SECTION_CHARS) };
}

/** The checks of an attempt's own verification, which its bundle has. */
async function ownChecks(
  runId: string,
  { task }: DispatchBody,
  epoch: number,
  { evidence }: Ports,
): Promise<CheckOutcome[]> {
  const bundle = await evidence.bundleOf(runId, task.task_id, epoch);
  const blobAt = (path: string | null): BlobRef | null =>
    bundle?.files.find((file) => file.path === path)?.blob ?? null;
  return (bundle?.checks ?? []).map((check) => ({
    command: check.command,
    exitCode: check.exit_code,
    timedOut: check.timed_out,
    durationMs: check.duration_ms,
    stdout: blobAt(check.stdout_path),
    stderr: blobAt(check.stderr_path),
    tail: "",
  }));
}
