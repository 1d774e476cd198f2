/**
 * The model answers that an attempt goes on from: those that an earlier attempt, lost with its process, had received whole.
 *
 * They save calls, and no attempt depends on them. If a list or a recording cannot be read in time, the models are asked anew
 * from there on, which is logged; answers read until then still count, because only equal requests get them. The size is
 * bounded, because all sandboxes of a gateway wait while a recording is parsed.
 *
 * An attempt that was answered from a record and lost before a call of its own may have been ended by one of these answers.
 * The next one is not given them again.
 */
import { setImmediate as others } from "node:timers/promises";
import { AntiphonError, type BlobRef, type ModelRecording } from "@antiphon/contracts";
import { withDeadline, type Logger } from "@antiphon/runtime";
import { readable, type AttemptOf, type CallLists } from "./call-list.ts";
import { readRecording } from "./recording.ts";

export interface LostRecord {
  /** Oldest first, each with its recording at the same place. */
  readonly calls: readonly BlobRef[];
  readonly recordings: readonly ModelRecording[];
}

export interface RecordPorts {
  readonly lists: Pick<CallLists, "of">;
  readonly read: (recording: BlobRef, signal: AbortSignal) => Promise<Buffer>;
  readonly log: Pick<Logger, "warn">;
  /** Default: READ_MS. */
  readonly readMs?: number;
}

/** The sandbox-runner waits five seconds for a listener. */
const READ_MS = 2_000;
const AT_ONCE = 16;

/** Null: there is nothing to go on from. */
export async function lostRecord(attempt: AttemptOf, ports: RecordPorts): Promise<LostRecord | null> {
  const { log, readMs = READ_MS } = ports;
  const stop = new AbortController();
  const read: Answered[] = [];
  try {
    await withDeadline(readMs, readInto(read, attempt, ports, stop.signal), () => {
      throw new AntiphonError("ANT_RPC_TIMEOUT", `the record was not read in ${readMs} ms`);
    });
  } catch (error) {
    const { run, task, epoch } = attempt;
    log.warn(
      { run, task, epoch, err: error, calls: read.length },
      "the record of a lost attempt is used as far as it was read; then models are asked anew",
    );
  } finally {
    stop.abort();
  }
  if (read.length === 0) return null;
  return { calls: read.map(({ call }) => call), recordings: read.map(({ recording }) => recording) };
}

interface Answered {
  readonly call: BlobRef;
  readonly recording: ModelRecording;
}

/** In their order, each as soon as it and those before it are there. */
async function readInto(
  found: Answered[],
  attempt: AttemptOf,
  { lists, read }: RecordPorts,
  signal: AbortSignal,
): Promise<void> {
  const listed = await lists.of(attempt);
  if (listed.isResumed === true) return;
  const all = readable(listed.calls);
  const coming: Promise<Buffer | { readonly failed: unknown }>[] = [];
  for (const [at, call] of all.entries()) {
    while (coming.length < Math.min(all.length, at + AT_ONCE)) {
      const next = all[coming.length] ?? call;
      coming.push(read(next, signal).catch((failed: unknown) => ({ failed })));
    }
    const text = await coming[at];
    signal.throwIfAborted();
    if (text === undefined || "failed" in text) throw text?.failed;
    const recording = readRecording(text);
    if (isWhole(recording)) found.push({ call, recording });
    await others();
  }
}

/** An answer to go on from. One that broke off, or a refusal, would only be asked for again. */
export function isWhole({ response }: ModelRecording): boolean {
  const { status, truncated, whole } = response;
  return status >= 200 && status < 300 && !truncated && whole !== false;
}
