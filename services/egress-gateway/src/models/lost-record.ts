/**
 * What an attempt goes on from: the whole answers that an earlier attempt, lost with its process, had from models.
 *
 * It spares calls, and no attempt depends on it: a list or a recording that cannot be read, or not in time, is logged, and the
 * models are asked anew. Its size is bounded, because all sandboxes of a gateway wait while a recording is parsed.
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
  try {
    return await withDeadline(readMs, recordOf(attempt, ports, stop.signal), () => {
      throw new AntiphonError("ANT_RPC_TIMEOUT", `the record was not read in ${readMs} ms`);
    });
  } catch (error) {
    const { run, task, epoch } = attempt;
    log.warn(
      { run, task, epoch, err: error },
      "the record of a lost attempt is not used; models are asked anew",
    );
    return null;
  } finally {
    stop.abort();
  }
}

async function recordOf(
  attempt: AttemptOf,
  { lists, read }: RecordPorts,
  signal: AbortSignal,
): Promise<LostRecord | null> {
  const listed = await lists.of(attempt);
  if (listed.isResumed === true) return null;
  const calls: BlobRef[] = [];
  const recordings: ModelRecording[] = [];
  const all = readable(listed.calls);
  for (let at = 0; at < all.length; at += AT_ONCE) {
    const some = all.slice(at, at + AT_ONCE);
    const texts = await Promise.all(some.map((call) => read(call, signal)));
    for (const [i, call] of some.entries()) {
      signal.throwIfAborted();
      const recording = readRecording(texts[i] ?? Buffer.alloc(0));
      if (isWhole(recording)) {
        calls.push(call);
        recordings.push(recording);
      }
      await others();
    }
  }
  return calls.length === 0 ? null : { calls, recordings };
}

/** An answer to go on from. One that broke off, or a refusal, would only be asked for again. */
export function isWhole({ response }: ModelRecording): boolean {
  const { status, truncated, whole } = response;
  return status >= 200 && status < 300 && !truncated && whole !== false;
}
