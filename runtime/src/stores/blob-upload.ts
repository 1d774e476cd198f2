/**
 * The first half of writing a blob: storing its chunks under a new id. Only the meta message (blob-writer.ts) makes
 * them an object that others can see.
 */
import { createHash } from "node:crypto";
import { digestOf } from "@antiphon/contracts";
import type { Bus } from "../nats/bus.ts";
import { noHeaders } from "../nats/wire-headers.ts";
import { chunkBytes, chunkSubject } from "./object-layout.ts";
import { uniqueId } from "../process/ids.ts";

/** Chunks in flight per write: enough to keep the disk busy, and few enough to bound memory (1.5 MiB). */
export const windowChunks = 12;

/** The bucket that the chunks are stored in. */
export interface Place {
  readonly bus: Bus;
  readonly stream: string;
  readonly bucket: string;
}

/** `full`: the store has no room. A failed upload may have left chunks under its id. */
export type Upload =
  | { kind: "stored"; nuid: string; size: number; chunks: number; digest: string }
  | { kind: "full" | "failed"; nuid: string; reason: string };

/** A single chunk cannot land behind a later one, so it may be sent again and share a commit with other messages. */
export async function uploadOne(
  { bus, stream, bucket }: Place,
  payload: Uint8Array,
  signal: AbortSignal,
): Promise<Upload> {
  const nuid = uniqueId();
  const subject = chunkSubject(bucket, nuid);
  const result = await bus.publish(
    { stream, subject, payload, headers: noHeaders, expectLastSubjectSequence: 0, group: true },
    signal,
  );
  // The id is new, so if the subject is taken, our own first attempt was stored.
  if (result.kind === "ok" || (result.kind === "failed" && result.refusal === "expectation")) {
    return { kind: "stored", nuid, size: payload.length, chunks: 1, digest: digestOf(payload) };
  }
  const reason = result.kind === "failed" ? result.description : result.reason;
  const full = result.kind === "failed" && result.refusal === "full";
  return { kind: full ? "full" : "failed", nuid, reason };
}

export async function uploadChunks(
  { bus, stream, bucket }: Place,
  source: AsyncIterable<Uint8Array>,
  signal: AbortSignal,
  nuid = uniqueId(),
): Promise<Upload> {
  const subject = chunkSubject(bucket, nuid);
  const hash = createHash("sha256");
  const inFlight: Promise<void>[] = [];
  const problem: { found: { full: boolean; reason: string } | null } = { found: null };
  let size = 0;
  let chunks = 0;
  try {
    for await (const chunk of rechunk(source)) {
      if (problem.found !== null || signal.aborted) break;
      hash.update(chunk);
      size += chunk.length;
      chunks += 1;
      // One attempt each, because a repeated chunk could land behind later ones.
      const out = { stream, subject, payload: chunk, headers: noHeaders, group: false, once: true };
      const sent = bus.publish(out, signal).then((result) => {
        if (result.kind === "ok") return;
        const full = result.kind === "failed" && result.refusal === "full";
        problem.found ??= { full, reason: result.kind === "failed" ? result.description : result.reason };
      });
      inFlight.push(sent);
      if (inFlight.length >= windowChunks) await inFlight.shift();
    }
  } finally {
    await Promise.all(inFlight); // Also when the source fails: a chunk that arrives after a purge would stay.
  }
  if (problem.found !== null) {
    return { kind: problem.found.full ? "full" : "failed", nuid, reason: problem.found.reason };
  }
  if (signal.aborted) return { kind: "failed", nuid, reason: "deadline" };
  return { kind: "stored", nuid, size, chunks, digest: `sha256-${hash.digest("base64url")}` };
}

/** Cuts a stream into chunks of exactly `chunkBytes` (the last one shorter). */
async function* rechunk(source: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let pending: Uint8Array[] = [];
  let length = 0;
  for await (const piece of source) {
    let rest = piece;
    while (length + rest.length >= chunkBytes) {
      const take = chunkBytes - length;
      yield pending.length === 0
        ? rest.subarray(0, take)
        : Buffer.concat([...pending, rest.subarray(0, take)]);
      rest = rest.subarray(take);
      pending = [];
      length = 0;
    }
    if (rest.length > 0) {
      pending.push(rest);
      length += rest.length;
    }
  }
  if (length > 0) yield Buffer.concat(pending);
}

/** Bytes in memory as a source. */
export async function* pieces(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  for (let from = 0; from < bytes.length; from += chunkBytes) {
    yield await Promise.resolve(bytes.subarray(from, from + chunkBytes));
  }
}
