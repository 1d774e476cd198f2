import { customAlphabet } from "nanoid";

// Lower case only: ids end up in NATS subjects, container labels, git trailers and DNS-like names.
const alphabet = "0123456789abcdefghijklmnopqrstuvwxyz";
const short = customAlphabet(alphabet, 10);
const long = customAlphabet(alphabet, 20);

/** Name of one running process of a role, new at each start: `as_…`, `dr_…`. */
export function nodeId(prefix: string): string {
  return `${prefix}_${short()}`;
}

/** Collision-safe (103 bit) id without a meaning: jobs, batches, blob chunks. */
export function uniqueId(): string {
  return long();
}
