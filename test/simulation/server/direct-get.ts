/** Direct get (ADR-31): stored messages by request, without a consumer. One request in, its answers out. */
import type { StoredMessage, StreamModel } from "./stream-model.ts";
import { matcher } from "./subject-filter.ts";
import { emptyData, statusBlock, type HeaderBlock } from "./wire.ts";

export interface Answer {
  headers: HeaderBlock;
  data: Uint8Array;
}

interface Query {
  seq?: number;
  last_by_subj?: string;
  next_by_subj?: string;
  batch?: number;
  max_bytes?: number;
  multi_last?: string[];
  up_to_seq?: number;
}

/** The server resolves no more subjects than this in one request. */
const MAX_RESULTS = 1024;

/** `subject` empty: the query is in the body. */
export function directGet(stream: StreamModel, subject: string, body: Uint8Array): Answer[] {
  if (subject !== "") return one(stream, stream.lastOf(subject));
  if (body.length === 0) return [status(408, "Empty Request")];
  let query: Query;
  try {
    query = JSON.parse(Buffer.from(body).toString("utf8")) as Query;
  } catch {
    return [status(408, "Malformed Request")];
  }
  if (query.multi_last !== undefined) return multiLast(stream, query);
  if (query.batch !== undefined && query.batch > 0) return batch(stream, query);
  if (query.last_by_subj !== undefined) return one(stream, stream.lastOf(query.last_by_subj));
  if (query.next_by_subj !== undefined) {
    return one(stream, next(stream, query.next_by_subj, Math.max(1, query.seq ?? 1))[0] ?? null);
  }
  if (query.seq !== undefined) return one(stream, stream.messages.get(query.seq) ?? null);
  return [status(408, "Empty Request")];
}

function one(stream: StreamModel, message: StoredMessage | null): Answer[] {
  return message === null ? [status(404, "Message Not Found")] : [answerOf(stream, message)];
}

function multiLast(stream: StreamModel, query: Query): Answer[] {
  const all = stream.lastOfEach(query.multi_last ?? [], query.up_to_seq);
  if (all.length > MAX_RESULTS) return [status(413, "Too Many Results")];
  if (all.length === 0) return [status(404, "No Results")];
  const wanted = all.filter((message) => message.seq >= (query.seq ?? 0));
  return series(stream, wanted, wanted.length, Math.min(stream.lastSeq, query.up_to_seq ?? stream.lastSeq));
}

function batch(stream: StreamModel, query: Query): Answer[] {
  const all = next(stream, query.next_by_subj ?? ">", Math.max(1, query.seq ?? 1));
  return series(stream, all, query.batch ?? 1, null, query.max_bytes);
}

/** As many of `all` as `count` and `maxBytes` allow, then the end of batch. */
function series(
  stream: StreamModel,
  all: readonly StoredMessage[],
  count: number,
  upTo: number | null,
  maxBytes = Number.POSITIVE_INFINITY,
): Answer[] {
  if (all.length === 0 && upTo === null) return [status(404, "Message Not Found")];
  const answers: Answer[] = [];
  let bytes = 0;
  let before = 0;
  for (const message of all.slice(0, count)) {
    bytes += message.data.length;
    if (answers.length > 0 && bytes > maxBytes) break;
    const fields = new Map([
      ["Nats-Num-Pending", String(all.length - answers.length - 1)],
      ["Nats-Last-Sequence", String(before)],
    ]);
    const answer = answerOf(stream, message);
    answers.push({ ...answer, headers: answer.headers.with(fields) });
    before = message.seq;
  }
  const fields = new Map([
    ["Nats-Num-Pending", String(all.length - answers.length)],
    ["Nats-Last-Sequence", String(before)],
    ...(upTo === null ? [] : [["Nats-UpTo-Sequence", String(upTo)] as const]),
  ]);
  return [...answers, { headers: statusBlock(204, "EOB", fields), data: emptyData }];
}

function next(stream: StreamModel, filter: string, seq: number): StoredMessage[] {
  const matches = matcher(filter);
  return [...stream.messages.values()].filter((one) => one.seq >= seq && matches(one.subject));
}

function answerOf(stream: StreamModel, message: StoredMessage): Answer {
  const fields = new Map([
    ["Nats-Stream", stream.settings.name],
    ["Nats-Subject", message.subject],
    ["Nats-Sequence", String(message.seq)],
    ["Nats-Time-Stamp", new Date(message.atMs).toISOString()],
  ]);
  return { headers: message.headers.with(fields), data: message.data };
}

function status(code: number, description: string): Answer {
  return { headers: statusBlock(code, description), data: emptyData };
}
