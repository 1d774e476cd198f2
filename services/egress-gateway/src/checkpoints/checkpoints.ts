/**
 * The newest checkpoint of each attempt, in KV `ANT_BUDGETS` under `<runId>.<taskId>.kept-<epoch>`: a register that is written by
 * compare-and-set. An attempt that goes on from earlier ones fences their registers first, and then reads them, so what it reads
 * is the last that they could leave, also if one of their sandboxes still runs.
 *
 * Lifecycle of a register: begun (by the sandbox that holds it) -> written, again and again -> fenced (a later sandbox has begun).
 *
 * Because every write names the revision that it replaces, and whoever goes on has replaced it, a sandbox whose attempt was
 * taken over leaves no checkpoint any more (run/R2).
 */
import { AntiphonError, type BlobRef } from "@antiphon/contracts";
import type { Kv } from "@antiphon/runtime";
import type { AttemptOf } from "../models/call-list.ts";
import { EgressRefusal } from "../policy/refusal.ts";

export interface Kept {
  /** The program's own state, in a form of its own. */
  readonly state: BlobRef;
  /** Its files; null: as at the beginning. */
  readonly tree: BlobRef | null;
  /** The recordings of all model calls until then, oldest first. */
  readonly calls: readonly BlobRef[];
}

interface Entry {
  /** Null: there is none yet. */
  readonly kept: Kept | null;
  /** The attempt that goes on from here. */
  readonly fenced?: number;
}

/** Attempts that an attempt may go on from, the newest first. */
export interface Before {
  readonly newest: number;
  readonly oldest: number;
}

const TRIES = 16;

export class Checkpoints {
  readonly #kv: Kv;

  constructor(kv: Kv) {
    this.#kv = kv;
  }

  /** Throws ANT_EGRESS_FENCED when a later attempt has begun already. */
  async begin(attempt: AttemptOf, before: Before | null): Promise<Register> {
    for (let tried = 0; tried < TRIES; tried += 1) {
      const entry = await this.#kv.get<Entry>(keyOf(attempt));
      if (entry?.value.fenced !== undefined) throw fenced(attempt.epoch);
      const kept = entry?.value.kept ?? (await this.#newestOf(attempt, before));
      const revision = await this.#written(attempt, { kept }, entry?.revision ?? null);
      if (revision !== null) return new Register(this.#kv, attempt, kept, revision);
    }
    throw unsettled(attempt);
  }

  async #newestOf(attempt: AttemptOf, before: Before | null): Promise<Kept | null> {
    for (let epoch = before?.newest ?? 0; epoch >= Math.max(1, before?.oldest ?? 1); epoch -= 1) {
      const kept = await this.#fence({ ...attempt, epoch }, attempt.epoch);
      if (kept !== null) return kept; // It has fenced those before it.
    }
    return null;
  }

  async #fence(lost: AttemptOf, by: number): Promise<Kept | null> {
    for (let tried = 0; tried < TRIES; tried += 1) {
      const entry = await this.#kv.get<Entry>(keyOf(lost));
      const kept = entry?.value.kept ?? null;
      if (entry?.value.fenced === by) return kept;
      const done = await this.#written(lost, { kept, fenced: by }, entry?.revision ?? null); // run/R2
      if (done !== null) return kept;
    }
    throw unsettled(lost);
  }

  /** The new revision; null: somebody else was faster. */
  async #written(attempt: AttemptOf, entry: Entry, revision: number | null): Promise<number | null> {
    const key = keyOf(attempt);
    if (revision !== null) return this.#kv.update(key, entry, revision);
    if (!(await this.#kv.create(key, entry))) return null;
    const created = await this.#kv.get<Entry>(key);
    return created === null || created.value.fenced !== entry.fenced ? null : created.revision;
  }
}

/** The register as one sandbox holds it. */
export class Register {
  readonly #kv: Kv;
  readonly #attempt: AttemptOf;
  #kept: Kept | null;
  #revision: number;

  constructor(kv: Kv, attempt: AttemptOf, kept: Kept | null, revision: number) {
    this.#kv = kv;
    this.#attempt = attempt;
    this.#kept = kept;
    this.#revision = revision;
  }

  /** The newest checkpoint, of this attempt or of the one that it goes on from. */
  get kept(): Kept | null {
    return this.#kept;
  }

  /** One after the other. Throws ANT_EGRESS_FENCED. */
  async keep(kept: Kept): Promise<void> {
    const revision = await this.#kv.update(keyOf(this.#attempt), { kept } satisfies Entry, this.#revision);
    if (revision === null) throw fenced(this.#attempt.epoch); // run/R2
    this.#revision = revision;
    this.#kept = kept;
  }
}

function fenced(epoch: number): EgressRefusal {
  const why = `another sandbox goes on from attempt ${epoch}`;
  return new EgressRefusal("ANT_EGRESS_FENCED", "checkpoint:fenced", why);
}

function unsettled({ run, task, epoch }: AttemptOf): AntiphonError {
  return new AntiphonError("ANT_EGRESS_LOST", `the checkpoint of ${run} ${task} ${epoch} changed too often`);
}

const keyOf = ({ run, task, epoch }: AttemptOf): string => `${run}.${task}.kept-${epoch}`;
