/** The deadline of a call on a blob (runtime/J9). */
import { setMaxListeners } from "node:events";
import { AntiphonError, limits } from "@antiphon/contracts";
import { deadlineSignal } from "../process/deadline-signal.ts";
import { windowChunks } from "./blob-upload.ts";

export interface BlobOptions {
  signal?: AbortSignal;
  /** Default limits.blobDeadlineMs. */
  deadlineMs?: number;
}

export const deadlineOf = (options: BlobOptions): number => options.deadlineMs ?? limits.blobDeadlineMs;

export function signalOf(options: BlobOptions): AbortSignal {
  const signal = deadlineSignal(deadlineOf(options), options.signal);
  setMaxListeners(2 * windowChunks, signal); // one listener per chunk in flight is not a leak
  return signal;
}

export function late(bucket: string, name: string): AntiphonError {
  return new AntiphonError("ANT_BLOB_DEADLINE", `${bucket}/${name}: not done in time`);
}
