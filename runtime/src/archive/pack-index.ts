import { AntiphonError, BUCKETS } from "@antiphon/contracts";
import type { Bus } from "../nats/bus.ts";
import { headerLines } from "../nats/wire-headers.ts";
import {
  metaSubject,
  chunkSubject,
  metaDocument,
  parseMeta,
  type ObjectMeta,
} from "../stores/object-layout.ts";
import { deleteRecord } from "../journal/record-deletion.ts";

/**
 * PackIndex: the list of packs, and the guarantee that no pack is removed while an archiver relies on it.
 *
 * Two archivers may race: one is about to purge the records that a pack holds, the other finds that no run points to
 * that pack. The sequence of the pack's meta message decides. The first one stores `archived` in the journal and then
 * rewrites the meta (`renew`), which gives it a new sequence. The second one reads the meta, then looks for runs that
 * point to the pack, and then deletes the meta by the sequence it read. So a renewed pack cannot be removed on the
 * strength of an earlier look, and `remove` never deletes anything newer. A crash during `remove` leaves only
 * unreadable chunks.
 */
export interface SeenPack {
  readonly name: string;
  readonly seq: number;
  /** When its meta was last written, by the server's clock. */
  readonly at: Date;
  readonly nuid: string;
  readonly digest: string;
}

const BUCKET = BUCKETS.archive;
const STREAM = `OBJ_${BUCKET}`;
const META = `$O.${BUCKET}.M.`;

export class PackIndex {
  private readonly bus: Bus;

  constructor(bus: Bus) {
    this.bus = bus;
  }

  async names(): Promise<string[]> {
    const { state } = await this.bus.jsm.streams.info(STREAM, { subjects_filter: `${META}>` });
    return Object.keys(state.subjects ?? {}).map((subject) =>
      Buffer.from(subject.slice(META.length), "base64url").toString("utf8"),
    );
  }

  async look(name: string): Promise<SeenPack | null> {
    const found = await this.meta(name);
    if (found === null) return null;
    const { meta, seq, at } = found;
    return { name, seq, at, nuid: meta.nuid, digest: meta.digest };
  }

  async renew(name: string): Promise<boolean> {
    for (;;) {
      const found = await this.meta(name);
      if (found === null) return false;
      const result = await this.bus.publish({
        stream: STREAM,
        subject: metaSubject(BUCKET, name),
        payload: Buffer.from(metaDocument(BUCKET, found.meta, new Date())),
        headers: headerLines({ "Nats-Rollup": "sub" }),
        expectLastSubjectSequence: found.seq, // runtime/J10
        group: false,
      });
      if (result.kind === "ok") return true;
      if (result.kind === "unknown") throw new AntiphonError("ANT_NATS_UNREACHABLE", result.reason);
      if (result.refusal === "full") throw new AntiphonError("ANT_NATS_NO_SPACE", result.description);
      if (result.refusal !== "expectation") throw new AntiphonError("ANT_NATS_REJECTED", result.description);
    }
  }

  /** True: it is removed, by this call or by another process. */
  async remove({ name, seq, nuid }: SeenPack): Promise<boolean> {
    await deleteRecord(this.bus, STREAM, seq); // A renewed pack has a new sequence, so this does not delete it.
    const now = await this.meta(name);
    if (now?.meta.nuid === nuid) return false;
    await this.bus.jsm.streams.purge(STREAM, { filter: chunkSubject(BUCKET, nuid) });
    return true;
  }

  private async meta(name: string): Promise<{ meta: ObjectMeta; seq: number; at: Date } | null> {
    const message = await this.bus.reader.last(STREAM, metaSubject(BUCKET, name));
    if (message === null) return null;
    const meta = parseMeta(BUCKET, name, Buffer.from(message.data).toString("utf8"));
    return meta.deleted ? null : { meta, seq: message.seq, at: message.at };
  }
}
