import { AntiphonError, BUCKETS } from "@antiphon/contracts";
import type { Bus } from "../nats/bus.ts";
import {
  metaSubject,
  chunkSubject,
  metaDocument,
  parseMeta,
  type ObjectMeta,
} from "../stores/object-layout.ts";
import { deleteRecord } from "../journal/record-deletion.ts";

/**
 * PackIndex: which packs there are, and that none goes while somebody counts on it.
 *
 * Two archivers may be at work: one is about to purge what a pack holds, the other finds that nobody points to that pack.
 * The pack's own meta message decides between them, by its sequence. Who counts on a pack says so in the journal first and
 * then writes the meta anew (`renew`), which gives it another sequence; who removes one looks at the meta first, then for
 * who points to it, and then deletes the meta it saw. So one of the two always learns of the other.
 *
 * Invariants:
 *   E6 `renew` is true only when the pack is there, and whoever looked at it before can no longer remove it.
 *   E7 `remove` removes what was seen and nothing that was written since. A crash in the middle of it leaves chunks that
 *      nobody can read.
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
        headers: { "Nats-Rollup": "sub" },
        expectLastSubjectSequence: found.seq, // E6
        group: false,
      });
      if (result.kind === "ok") return true;
      if (result.kind === "unknown") throw new AntiphonError("ANT_NATS_UNREACHABLE", result.reason);
      if (result.refusal === "full") throw new AntiphonError("ANT_NATS_NO_SPACE", result.description);
      if (result.refusal !== "expectation") throw new AntiphonError("ANT_NATS_REJECTED", result.description);
    }
  }

  /** True: it went, by this call or by somebody else's. */
  async remove({ name, seq, nuid }: SeenPack): Promise<boolean> {
    await deleteRecord(this.bus, STREAM, seq); // E7: a pack that was renewed has another sequence now.
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
