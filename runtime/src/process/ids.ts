import { customRandom } from "nanoid";

// Lower case only: ids end up in NATS subjects, container labels, git trailers and DNS-like names.
const alphabet = "0123456789abcdefghijklmnopqrstuvwxyz";
/** The platform's own source, asked each time: no pool of bytes that a fork or a snapshot would hand out twice. */
const random = (bytes: number): Uint8Array => globalThis.crypto.getRandomValues(new Uint8Array(bytes));
const short = customRandom(alphabet, 10, random);
const long = customRandom(alphabet, 20, random);

/** Name of one running process of a role, new at each start: `as_…`, `dr_…`. */
export function nodeId(prefix: string): string {
  return `${prefix}_${short()}`;
}

/** Collision-safe (103 bit) id without a meaning: jobs, batches, blob chunks. */
export function uniqueId(): string {
  return long();
}
