import { customRandom } from "nanoid";

// Lower case only, because ids end up in NATS subjects, container labels, git trailers and DNS-like names.
const alphabet = "0123456789abcdefghijklmnopqrstuvwxyz";
/** Asks the platform's random source each time: a pool of bytes could be handed out twice after a fork or snapshot. */
const random = (bytes: number): Uint8Array => globalThis.crypto.getRandomValues(new Uint8Array(bytes));
const short = customRandom(alphabet, 10, random);
const long = customRandom(alphabet, 20, random);

/** Unique name of one running process of a role, new at each start: `as_…`, `dr_…`. */
export function nodeId(prefix: string): string {
  return `${prefix}_${short()}`;
}

/** Collision-safe (103 bit) random id: jobs, batches, blob chunks. */
export function uniqueId(): string {
  return long();
}
