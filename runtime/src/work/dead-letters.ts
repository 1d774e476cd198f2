import type { DeadLetter } from "@antiphon/contracts";
import {
  AntiphonError,
  HEADERS,
  MSGPACK,
  decode,
  encode,
  parseJournalSubject,
  subjects,
} from "@antiphon/contracts";
import type { Bus } from "../nats/bus.ts";
import { headerLines } from "../nats/wire-headers.ts";
import type { StoredMessage } from "../nats/direct-answer.ts";

/**
 * The dead letters: deliveries that were given up until a person requeues them.
 *
 * A letter's id is its subject after `antiphon.v1.dlq.`. It names the consumer that gave up and the register of the
 * record, so burying the same record twice gives one letter. A requeued letter is removed; if its record ends up here
 * again, it is a new letter.
 */
export interface KeptLetter {
  readonly id: string;
  readonly seq: number;
  readonly at: Date;
  readonly letter: DeadLetter;
}

export interface DeadLetters {
  /** Oldest first, after the stream sequence `after`; `more`: how many are left. */
  list(after: number, limit: number): Promise<{ letters: KeptLetter[]; more: number }>;
  get(id: string): Promise<KeptLetter | null>;
  /** Stores a letter, or throws. */
  bury(letter: NewLetter): Promise<void>;
  remove(kept: KeptLetter): Promise<void>;
}

export interface NewLetter {
  readonly consumer: string;
  readonly code: string;
  readonly detail: string;
  readonly deliveries: number;
  readonly origin: { readonly subject: string; readonly seq: number; readonly stream: string };
  readonly data: Uint8Array;
}

const STREAM = "ANT_DLQ";
const PREFIX = "antiphon.v1.dlq.";
const DETAIL_CHARS = 16_000;

export function openDeadLetters(bus: Bus): DeadLetters {
  return {
    async list(after, limit) {
      const page = await bus.reader.next(STREAM, {
        filter: subjects.deadLettersAll,
        seq: after + 1,
        batch: limit,
      });
      return { letters: page.messages.map(kept), more: page.pending };
    },
    async get(id) {
      const message = await bus.reader.last(STREAM, PREFIX + id);
      return message === null ? null : kept(message);
    },
    async bury(letter) {
      if (!(await storeLetter(bus, letter)))
        throw new AntiphonError(
          "ANT_NATS_UNREACHABLE",
          `the dead letter of ${letter.origin.subject} could not be stored`,
        );
    },
    async remove({ seq }) {
      await bus.jsm.streams.deleteMessage(STREAM, seq, false);
    },
  };
}

/** True: the letter is stored, by this call or an earlier one. */
export async function storeLetter(bus: Bus, letter: NewLetter): Promise<boolean> {
  const { consumer, code, detail, deliveries, origin, data } = letter;
  const address = parseJournalSubject(origin.subject);
  const body: DeadLetter = {
    v: 1,
    consumer,
    code,
    detail: detail.slice(0, DETAIL_CHARS),
    deliveries,
    origin: { subject: origin.subject, seq: origin.seq },
    payload: Buffer.from(data).toString("base64"),
  };
  const result = await bus.publish({
    stream: STREAM,
    subject:
      address === null
        ? `${PREFIX}${consumer}.malformed.${origin.stream.toLowerCase()}.-.${origin.seq}`
        : subjects.deadLetter(consumer, address),
    payload: encode(body),
    headers: headerLines({ [HEADERS.contentType]: MSGPACK, [HEADERS.schema]: "DeadLetter.v1" }),
    expectLastSubjectSequence: 0,
    group: false,
  });
  return result.kind === "ok" || (result.kind === "failed" && result.refusal === "expectation");
}

function kept({ subject, seq, at, data }: StoredMessage): KeptLetter {
  return { id: subject.slice(PREFIX.length), seq, at, letter: decode(data) as DeadLetter };
}
