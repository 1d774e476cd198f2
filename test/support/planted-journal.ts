/**
 * A journal with planted faults: the messages of a healthy one, published again byte by byte under the same sequences,
 * with one of them changed. The server finds nothing wrong; only the chain of causes is broken.
 */
import { HEADERS, digestOf, journalStream, subjects } from "@antiphon/contracts";
import type { Bus } from "@antiphon/runtime";
import { headerLines } from "@antiphon/runtime/nats/wire-headers";

export interface StoredMessage {
  readonly subject: string;
  readonly seq: number;
  readonly data: Uint8Array;
  readonly headers: Readonly<Record<string, string>>;
}

/** Any change that a person with a hex editor could make to one message. */
export const CHANGES = {
  "a flipped bit": (message: StoredMessage, at: number) => ({ ...message, data: flipped(message.data, at) }),
  "a flipped bit under a new digest": (message: StoredMessage, at: number) => {
    const data = flipped(message.data, at);
    return withHeader({ ...message, data }, HEADERS.digest, digestOf(data));
  },
  "a flipped digest": (message: StoredMessage) =>
    withHeader(message, HEADERS.digest, digestOf(new Uint8Array([1]))),
  "another cause in the header": (message: StoredMessage) =>
    withHeader(message, HEADERS.cause, `1:${digestOf(new Uint8Array([2]))}`),
  "a payload cut off": (message: StoredMessage, at: number) => ({
    ...message,
    data: message.data.subarray(0, 1 + (at % (message.data.length - 1))),
  }),
} as const satisfies Record<string, (message: StoredMessage, at: number) => StoredMessage>;

function flipped(data: Uint8Array, at: number): Uint8Array {
  const copy = Uint8Array.from(data);
  const index = at % copy.length;
  copy[index] = (copy[index] ?? 0) ^ (1 << (at % 8));
  return copy;
}

function withHeader(message: StoredMessage, name: string, value: string): StoredMessage {
  return { ...message, headers: { ...message.headers, [name]: value } };
}

/** Every message of the journal's first partition, in stream order. */
export async function journalMessages(bus: Bus): Promise<StoredMessage[]> {
  const names = Object.values(HEADERS);
  const found: StoredMessage[] = [];
  for (let seq = 1; ;) {
    const page = await bus.reader.next(journalStream(0), { filter: subjects.partition(0), seq, batch: 512 });
    for (const message of page.messages) {
      const { subject, seq: own, data } = message;
      const headers = Object.fromEntries(
        names.map((name) => [name, message.header(name)] as const).filter(([, value]) => value !== ""),
      );
      found.push({ subject, seq: own, data: Uint8Array.from(data), headers });
    }
    const last = page.messages.at(-1);
    if (last === undefined || page.pending === 0) return found;
    seq = last.seq + 1;
  }
}

/** Publishes messages unchanged, past all checks of a register. */
export async function publishRaw(bus: Bus, messages: readonly StoredMessage[]): Promise<void> {
  for (const { subject, data, headers } of messages) {
    const result = await bus.publish({
      stream: journalStream(0),
      subject,
      payload: data,
      headers: headerLines(headers),
      group: false,
    });
    if (result.kind !== "ok") throw new Error(`not stored: ${subject}`);
  }
}
