import { AntiphonError } from "@antiphon/contracts";
import type { Bus } from "../nats/bus.ts";
import { headerLines } from "../nats/wire-headers.ts";
import type { PublishResult } from "../publishing/publish-result.ts";
import { uniqueId } from "../process/ids.ts";

/**
 * Kv: JSON documents in a standard NATS key-value bucket, readable with `nats kv get`. It creates no consumer.
 *
 * Every write is a compare-and-set on the server; `put` repeats it until it succeeds (last writer wins). After a lost
 * acknowledgement the writer recognises its own document by a write id.
 */
export interface KvEntry<T = unknown> {
  value: T;
  /** Pass it to `update`. */
  revision: number;
}

export interface Kv {
  readonly bucket: string;
  get<T = unknown>(key: string): Promise<KvEntry<T> | null>;
  /** Last writer wins. For projections. Returns the new revision. `revision`: hint, the probable present revision. */
  put(key: string, document: unknown, revision?: number): Promise<number>;
  /** False: the key exists. */
  create(key: string, document: unknown): Promise<boolean>;
  /** The new revision, or null if the key is no longer at `revision`. */
  update(key: string, document: unknown, revision: number): Promise<number | null>;
  /** Keys that have a value, in no particular order. `prefix` is a whole dotted prefix: `run_x`. */
  keys(prefix?: string): Promise<string[]>;
  /** Removes the key and its history. */
  delete(key: string): Promise<void>;
}

export const keyForm = /^[-/_=a-zA-Z0-9]+(\.[-/_=a-zA-Z0-9]+)*$/;
const writeId = "Antiphon-Write";

export function openKv(bus: Bus, bucket: string): Kv {
  const stream = `KV_${bucket}`;

  function subjectOf(key: string): string {
    if (!keyForm.test(key))
      throw new AntiphonError("ANT_CONTRACT_INVALID", `not a key: ${JSON.stringify(key)}`);
    return `$KV.${bucket}.${key}`;
  }

  async function last(key: string) {
    const message = await bus.reader.last(stream, subjectOf(key));
    if (message === null) return null;
    const gone = message.header("KV-Operation") !== "";
    return { message, gone };
  }

  // A writer's name and a count, because a random id for each write would strain the platform's random source.
  const writer = uniqueId();
  let writes = 0;

  /** `refused`: the key is not at `expected` but at `last`, or null if it does not exist. */
  async function write(key: string, document: unknown, expected: number): Promise<Written> {
    writes += 1;
    const id = `${writer}.${writes}`;
    const result = await bus.publish({
      stream,
      subject: subjectOf(key),
      payload: Buffer.from(JSON.stringify(document)),
      headers: headerLines({ "Content-Type": "application/json", [writeId]: id }),
      expectLastSubjectSequence: expected,
      group: true,
    });
    if (result.kind === "ok") return { kind: "stored", revision: result.seq };
    if (result.kind === "failed" && result.refusal === "expectation") {
      const now = await last(key);
      if (now?.message.header(writeId) === id) return { kind: "stored", revision: now.message.seq };
      return { kind: "refused", last: now === null ? null : { revision: now.message.seq, gone: now.gone } };
    }
    throw failure(`${bucket}/${key}`, result);
  }

  return {
    bucket,
    async get<T>(key: string) {
      const found = await last(key);
      if (found === null || found.gone) return null;
      const text = Buffer.from(found.message.data).toString("utf8");
      try {
        return { value: JSON.parse(text) as T, revision: found.message.seq };
      } catch (error) {
        throw new AntiphonError("ANT_STATE_CORRUPT", `${bucket}/${key} is not JSON`, { cause: error });
      }
    },
    async put(key, document, revision = 0) {
      // Compare-and-set here too, so that a delayed attempt cannot overwrite a later document. The key is usually new or
      // still at the writer's last revision, so try that first and save a read.
      for (let expected = revision; ;) {
        const written = await write(key, document, expected);
        if (written.kind === "stored") return written.revision;
        expected = written.last?.revision ?? 0;
      }
    },
    async create(key, document) {
      const written = await write(key, document, 0);
      if (written.kind === "stored") return true;
      // Another tool's delete marker means "does not exist"; put the document right behind it.
      const { last: there } = written;
      return there?.gone === true && (await write(key, document, there.revision)).kind === "stored";
    },
    async update(key, document, revision) {
      const written = await write(key, document, revision);
      return written.kind === "stored" ? written.revision : null;
    },
    async keys(prefix) {
      const filter = prefix === undefined ? `$KV.${bucket}.>` : `${subjectOf(prefix)}.>`;
      const info = await bus.jsm.streams.info(stream, { subjects_filter: filter });
      return Object.keys(info.state.subjects ?? {}).map((subject) => subject.slice(`$KV.${bucket}.`.length));
    },
    async delete(key) {
      await bus.jsm.streams.purge(stream, { filter: subjectOf(key) });
    },
  };
}

type Written =
  | { kind: "stored"; revision: number }
  | { kind: "refused"; last: { revision: number; gone: boolean } | null };

function failure(what: string, result: Exclude<PublishResult, { kind: "ok" }>): AntiphonError {
  if (result.kind === "unknown")
    return new AntiphonError("ANT_NATS_UNREACHABLE", `${what}: ${result.reason}`);
  const code = result.refusal === "full" ? "ANT_NATS_NO_SPACE" : "ANT_NATS_REJECTED";
  return new AntiphonError(code, `${what}: ${result.description} (${result.code})`);
}
