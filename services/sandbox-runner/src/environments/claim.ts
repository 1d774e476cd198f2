/**
 * The right to build one environment: a record in KV that only its holder changes, with a beat while the holder works.
 *
 * Lifecycle: taken -> settled (ready or failed) | released | lost (somebody else changed the record; `lost` aborts).
 */
import { limits } from "@antiphon/contracts";
import type { Kv, KvEntry } from "@antiphon/runtime";
import type { EnvironmentRecord } from "./environment-record.ts";

export class Claim {
  readonly #records: Kv;
  readonly #key: string;
  readonly #holder: string;
  readonly #lost = new AbortController();
  readonly #timer: NodeJS.Timeout;
  #revision: number;
  #beats = 0;
  #writing: Promise<void> = Promise.resolve();

  private constructor(records: Kv, key: string, holder: string, revision: number) {
    this.#records = records;
    this.#key = key;
    this.#holder = holder;
    this.#revision = revision;
    this.#timer = setInterval(() => {
      this.#writing = this.#beat();
    }, limits.sandboxBeatMs).unref();
  }

  /** Null: somebody else was faster. @param before the record that this claim replaces */
  static async take(
    records: Kv,
    key: string,
    holder: string,
    before: KvEntry<EnvironmentRecord> | null,
  ): Promise<Claim | null> {
    const record: EnvironmentRecord = { state: "building", holder, beat: 0 };
    if (before !== null) {
      const revision = await records.update(key, record, before.revision);
      return revision === null ? null : new Claim(records, key, holder, revision);
    }
    if (!(await records.create(key, record))) return null;
    const entry = await records.get<EnvironmentRecord>(key);
    const isOwn = entry?.value.state === "building" && entry.value.holder === holder;
    return isOwn ? new Claim(records, key, holder, entry.revision) : null;
  }

  /** Aborts when the claim is lost. */
  get lost(): AbortSignal {
    return this.#lost.signal;
  }

  /** Writes the end of the work. A claim that was lost writes nothing: what its new holder makes counts. */
  async settle(record: Exclude<EnvironmentRecord, { state: "building" }>): Promise<void> {
    await this.#end();
    if (this.#lost.signal.aborted) return;
    await this.#records.update(this.#key, record, this.#revision);
  }

  /** Removes the record, so that whoever waits builds at once. */
  async release(): Promise<void> {
    await this.#end();
    if (this.#lost.signal.aborted) return;
    const entry = await this.#records.get(this.#key);
    if (entry?.revision === this.#revision) await this.#records.delete(this.#key);
  }

  async #end(): Promise<void> {
    clearInterval(this.#timer);
    await this.#writing;
  }

  async #beat(): Promise<void> {
    this.#beats += 1;
    const record: EnvironmentRecord = { state: "building", holder: this.#holder, beat: this.#beats };
    try {
      const revision = await this.#records.update(this.#key, record, this.#revision);
      if (revision === null) this.#lost.abort();
      else this.#revision = revision;
    } catch {
      // The server does not answer. Either a later beat is stored, or somebody takes over and the next beat shows it.
    }
  }
}
