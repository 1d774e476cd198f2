import { promisify } from "node:util";
import { gunzip, gzip } from "node:zlib";
import type { ArchivedRun, BlobRef, StoredRecord } from "@antiphon/contracts";
import { AntiphonError, BUCKETS, archivedRunDigest, decodePack, encodePack } from "@antiphon/contracts";
import { openBlobs, type Blobs } from "../stores/blobs.ts";
import type { Bus } from "../nats/bus.ts";

/**
 * PackStore: stores and reads packs of archived runs in `ANT_ARCHIVE`.
 *
 * `store` reads the pack back from the server and compares every run by digest. `entry` compares the run with its
 * `archived` record, and throws ANT_ARCHIVE_CORRUPT with the object's name if they differ.
 */
export type ArchivedRecord = Extract<StoredRecord, { type: "archived" }>;

const zip = promisify(gzip);
const unzip = promisify<Uint8Array, { maxOutputLength: number }, Buffer>(gunzip);
/** A single run may exceed the intended pack size, but a pack beyond this limit is not ours. */
const maxPackBytes = 512 * 1024 * 1024;

export class PackStore {
  private readonly blobs: Blobs;
  /** The pack read last, since runs of one pack are usually read one after the other. */
  private last: { name: string; runs: ReadonlyMap<string, ArchivedRun> } | null = null;

  constructor(bus: Bus) {
    this.blobs = openBlobs(bus, BUCKETS.archive, { mayPurge: true });
  }

  /** `digests`: the digest of each run (archivedRunDigest). */
  async store(runs: readonly ArchivedRun[], digests: ReadonlyMap<string, string>): Promise<BlobRef> {
    const ref = await this.blobs.put(null, await zip(encodePack(runs)));
    const there = await this.read(ref); // runtime/J10
    for (const run of runs) {
      const copy = there.get(run.runId);
      if (copy === undefined || archivedRunDigest(copy) !== digests.get(run.runId)) {
        throw corrupt(ref, `${run.runId} reads back differently`);
      }
    }
    return ref;
  }

  async entry({ runId, body }: Pick<ArchivedRecord, "runId" | "body">): Promise<ArchivedRun> {
    const { pack, digest, records, last } = body;
    const runs = this.last?.name === pack.name ? this.last.runs : await this.read(pack);
    this.last = { name: pack.name, runs };
    const run = runs.get(runId);
    if (run === undefined) throw corrupt(pack, `it does not hold ${runId}`);
    const right =
      archivedRunDigest(run) === digest &&
      run.records.length === records &&
      run.records.at(-1)?.seq === last.seq;
    if (!right) throw corrupt(pack, `${runId} differs from its record`);
    return run;
  }

  /** Ids of the runs in a pack, each with its number of records. */
  async contents(name: string, digest: string): Promise<ReadonlyMap<string, number>> {
    const runs = await this.read({ bucket: BUCKETS.archive, name, digest, bytes: 0 });
    return new Map([...runs].map(([runId, { records }]) => [runId, records.length]));
  }

  private async read(ref: BlobRef): Promise<ReadonlyMap<string, ArchivedRun>> {
    try {
      const bytes = await unzip(await this.blobs.get(ref), { maxOutputLength: maxPackBytes });
      return new Map(decodePack(bytes).map((run) => [run.runId, run]));
    } catch (error) {
      if (error instanceof AntiphonError && error.disposition === "retry") throw error;
      throw corrupt(ref, error instanceof Error ? error.message : String(error), error);
    }
  }
}

function corrupt({ bucket, name }: BlobRef, detail: string, cause?: unknown): AntiphonError {
  return new AntiphonError("ANT_ARCHIVE_CORRUPT", `${bucket}/${name}: ${detail}`, {
    data: { object: name },
    ...(cause === undefined ? {} : { cause }),
  });
}
