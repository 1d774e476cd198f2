/**
 * Notes of uploads that take long, so that the chunks of a writer that was killed can be found: no object names them, and an
 * object store has no other list of what is being written.
 *
 * A note is the meta message of a deleted object, which every client leaves out. It is written before the first chunk and removed
 * when the object is there or its chunks are gone. One that is older than any upload lasts belongs to a writer that is gone:
 * then the chunks go, unless the object has become visible after all.
 */
import { AntiphonError, limits } from "@antiphon/contracts";
import type { Bus } from "../nats/bus.ts";
import { noHeaders } from "../nats/wire-headers.ts";
import type { Clock } from "../process/clock.ts";
import type { Logger } from "../process/logger.ts";
import { chunkSubject, metaSubject, parseMeta } from "./object-layout.ts";

const NOTE = "uploading-";
/** Twice the longest deadline of an upload, because the clocks of a server and a service differ. */
const GONE_MS = 2 * limits.treeTransferMs;
const EVERY_MS = 3_600_000;

export class UploadNotes {
  readonly #bus: Bus;
  readonly #bucket: string;

  constructor(bus: Bus, bucket: string) {
    this.#bus = bus;
    this.#bucket = bucket;
  }

  /** `object`: what the upload will be called. */
  async add(object: string, nuid: string, signal: AbortSignal): Promise<void> {
    const name = `${NOTE}${nuid}`;
    const note = { name, description: object, bucket: this.#bucket, nuid, size: 0, chunks: 0, deleted: true };
    const payload = Buffer.from(JSON.stringify(note));
    const message = { stream: this.#stream, subject: this.#subject(nuid), payload, headers: noHeaders };
    const result = await this.#bus.publish({ ...message, group: false }, signal);
    if (result.kind === "ok") return;
    if (result.kind === "unknown") throw new AntiphonError("ANT_NATS_UNREACHABLE", result.reason);
    const code = result.refusal === "full" ? "ANT_NATS_NO_SPACE" : "ANT_NATS_REJECTED";
    throw new AntiphonError(code, result.description);
  }

  async remove(nuid: string): Promise<void> {
    await this.#bus.jsm.streams.purge(this.#stream, { filter: this.#subject(nuid) });
  }

  /**
   * Removes the chunks of uploads that were noted before then, and their notes. One that cannot be read stays, with its chunks.
   * @returns how many there were
   */
  async removeUnfinished(before: Date, onUnreadable: (error: AntiphonError) => void): Promise<number> {
    const prefix = `$O.${this.#bucket}.M.`;
    const { state } = await this.#bus.jsm.streams.info(this.#stream, { subjects_filter: `${prefix}>` });
    let removed = 0;
    for (const subject of Object.keys(state.subjects ?? {})) {
      const name = Buffer.from(subject.slice(prefix.length), "base64url").toString("utf8");
      if (!name.startsWith(NOTE)) continue;
      const note = await this.#bus.reader.last(this.#stream, subject);
      if (note === null || note.at >= before) continue;
      const nuid = name.slice(NOTE.length);
      const isUsed = await this.#isUsed(note.data, nuid).catch((thrown: unknown) => {
        if (!isUnreadable(thrown)) throw thrown;
        onUnreadable(thrown);
        return null;
      });
      if (isUsed === null) continue;
      if (!isUsed)
        await this.#bus.jsm.streams.purge(this.#stream, { filter: chunkSubject(this.#bucket, nuid) });
      await this.remove(nuid); // Last, so that a purge that failed is tried again.
      if (!isUsed) removed += 1;
    }
    return removed;
  }

  /** The upload ended well, and its writer was killed before it removed the note. */
  async #isUsed(note: Uint8Array, nuid: string): Promise<boolean> {
    const description = objectOf(note, nuid);
    const message = await this.#bus.reader.last(this.#stream, metaSubject(this.#bucket, description));
    if (message === null) return false;
    const meta = parseMeta(this.#bucket, description, Buffer.from(message.data).toString("utf8"));
    return !meta.deleted && meta.nuid === nuid;
  }

  get #stream(): string {
    return `OBJ_${this.#bucket}`;
  }

  #subject(nuid: string): string {
    return metaSubject(this.#bucket, `${NOTE}${nuid}`);
  }
}

/** What the upload of a note will be called. */
function objectOf(note: Uint8Array, nuid: string): string {
  let document: unknown;
  try {
    document = JSON.parse(Buffer.from(note).toString("utf8"));
  } catch (error) {
    throw new AntiphonError("ANT_BLOB_CORRUPT", `${NOTE}${nuid}: unreadable note`, { cause: error });
  }
  const { description } = Object(document) as { description?: unknown };
  if (typeof description === "string") return description;
  throw new AntiphonError("ANT_BLOB_CORRUPT", `${NOTE}${nuid}: a note without the name of an object`);
}

/** The note, or the meta of the object that it names, is not as we write it. */
function isUnreadable(thrown: unknown): thrown is AntiphonError {
  return thrown instanceof AntiphonError && ["ANT_BLOB_CORRUPT", "ANT_BLOB_MISSING"].includes(thrown.code);
}

/** A round now and every hour, until the signal aborts. */
export async function removeUnfinishedUntil(
  { bus, bucket, clock, log }: { bus: Bus; bucket: string; clock: Clock; log: Logger },
  signal: AbortSignal,
): Promise<void> {
  const notes = new UploadNotes(bus, bucket);
  while (!signal.aborted) {
    try {
      const uploads = await notes.removeUnfinished(new Date(clock.now() - GONE_MS), (error) =>
        log.warn({ err: error, bucket }, "note of an upload skipped, which cannot be read"),
      );
      if (uploads > 0) log.info({ bucket, uploads }, "chunks of unfinished uploads removed");
    } catch (error) {
      log.warn({ err: error, bucket }, "unfinished uploads not removed; the next round tries again");
    }
    await clock.sleep(EVERY_MS, signal);
  }
}
