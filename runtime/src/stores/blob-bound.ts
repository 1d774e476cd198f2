/**
 * Keeps a bucket of objects that can be made again within a bound: those that were not wanted for longest go first.
 *
 * When an object was last wanted is the server's time of its meta message, which `Blobs.want` stores again. An object is
 * removed by purging that very message by its sequence. So of a removal and a `want` at the same time one finds the other's
 * work: either the object stays, or `want` answers that it is gone. Several may remove at the same time.
 *
 * Its chunks go afterwards. A note (upload-notes.ts) stands for them meanwhile, so that they also go if the remover is killed.
 * On a full server there is no room for a note, and room is what is needed: then they go without one.
 */
import { AntiphonError } from "@antiphon/contracts";
import type { Bus } from "../nats/bus.ts";
import { chunkSubject, parseMeta } from "./object-layout.ts";
import { UploadNotes } from "./upload-notes.ts";

export interface BlobBound {
  readonly bus: Bus;
  readonly bucket: string;
  /** Of the whole bucket. */
  readonly maxBytes: number;
  /** Objects that were wanted since then stay. */
  readonly wantedBefore: Date;
  /** False: the object cannot be made again and stays. */
  mayGo(name: string): boolean;
  /** Names that stay. Asked only when something has to go. */
  kept(): Promise<ReadonlySet<string>>;
}

export interface BoundOutcome {
  readonly removed: readonly { readonly name: string; readonly bytes: number }[];
  /** The bucket's size afterwards. */
  readonly bytes: number;
}

interface Found {
  readonly subject: string;
  readonly name: string;
  readonly nuid: string;
  readonly bytes: number;
  readonly seq: number;
  readonly at: Date;
}

const PAGE = { batch: 256, maxBytes: 4 * 1024 * 1024 };

export async function keepWithin(bound: BlobBound): Promise<BoundOutcome> {
  const { bus, bucket, maxBytes, wantedBefore } = bound;
  const { state } = await bus.jsm.streams.info(`OBJ_${bucket}`);
  let { bytes } = state;
  const removed: { name: string; bytes: number }[] = [];
  if (bytes <= maxBytes) return { removed, bytes };
  const old = (await objectsOf(bound)).filter(({ name, at }) => at < wantedBefore && bound.mayGo(name));
  const kept = old.length === 0 ? new Set<string>() : await bound.kept();
  for (const one of old.sort((a, b) => a.seq - b.seq)) {
    if (bytes <= maxBytes) break;
    if (kept.has(one.name) || !(await removeUnwanted(bus, bucket, one))) continue;
    bytes -= one.bytes;
    removed.push({ name: one.name, bytes: one.bytes });
  }
  return { removed, bytes };
}

/** False: somebody wanted or removed it in the meantime. */
async function removeUnwanted(
  bus: Bus,
  bucket: string,
  { subject, name, nuid, seq }: Found,
): Promise<boolean> {
  const notes = new UploadNotes(bus, bucket);
  const stream = `OBJ_${bucket}`;
  const isNoted = await noted(notes, name, nuid);
  const { purged } = await bus.jsm.streams.purge(stream, { filter: subject, seq: seq + 1 });
  if (purged > 0) await bus.jsm.streams.purge(stream, { filter: chunkSubject(bucket, nuid) });
  if (isNoted) await notes.remove(nuid); // Last: a purge that failed is tried again by the round over the notes.
  return purged > 0;
}

async function noted(notes: UploadNotes, name: string, nuid: string): Promise<boolean> {
  try {
    await notes.add(name, nuid, AbortSignal.timeout(NOTE_MS));
    return true;
  } catch (error) {
    if (AntiphonError.from(error).code !== "ANT_NATS_NO_SPACE") throw error;
    return false;
  }
}

const NOTE_MS = 15_000;

/** Objects that cannot be read are left to people. */
async function objectsOf({ bus, bucket }: BlobBound): Promise<Found[]> {
  const filter = `$O.${bucket}.M.>`;
  const found: Found[] = [];
  for (let seq = 1; ;) {
    const { messages } = await bus.reader.next(`OBJ_${bucket}`, { filter, seq, ...PAGE });
    const last = messages.at(-1);
    if (last === undefined) return found;
    seq = last.seq + 1;
    for (const { subject, seq: at, at: time, data } of messages) {
      const name = Buffer.from(subject.slice(filter.length - 1), "base64url").toString("utf8");
      const meta = metaOf(bucket, name, data);
      if (meta === null || meta.deleted) continue;
      found.push({ subject, name, nuid: meta.nuid, bytes: meta.size, seq: at, at: time });
    }
  }
}

function metaOf(bucket: string, name: string, data: Uint8Array): ReturnType<typeof parseMeta> | null {
  try {
    return parseMeta(bucket, name, Buffer.from(data).toString("utf8"));
  } catch (error) {
    if (AntiphonError.from(error).code.startsWith("ANT_BLOB_")) return null;
    throw error;
  }
}
