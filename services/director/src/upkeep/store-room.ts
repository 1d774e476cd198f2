/**
 * Keeps the store of base trees, linked files and histories within the deployment's bound. Before an archive is stored,
 * room is made for it; a round at start and every `EVERY_MS` does the rest. A removed
 * object is stored again when a run needs it.
 *
 * Spared are packs, what was wanted in the last limits.repoKeepMs, and what a dispatch of an open run names, however long the
 * run waits. If only such things are left, the store grows beyond the bound: the log says so, and work goes on. Directors that
 * make room at the same time remove nothing twice (runtime/src/stores/blob-bound.ts).
 */
import { BUCKETS, limits } from "@antiphon/contracts";
import { keepWithin, type Bus, type Clock, type Journal, type Logger } from "@antiphon/runtime";
import { canBeMadeAgain, namedObjects } from "../repositories/named-objects.ts";

export interface StoreRoomParts {
  readonly bus: Bus;
  readonly journal: Pick<Journal, "openRunIds" | "read">;
  readonly maxBytes: number;
  /** Default limits.repoKeepMs. */
  readonly keepMs?: number;
  readonly clock: Clock;
  readonly log: Logger;
}

const EVERY_MS = 600_000;
/** After a round that found nothing more to remove, the next waits so long: each reads all open runs. */
const IN_VAIN_MS = 60_000;
/** Runs read at the same time. */
const AT_ONCE = 8;

export class StoreRoom {
  readonly #parts: StoreRoomParts;
  #arriving = 0;
  #inVainAt: number | null = null;
  #turn: Promise<void> = Promise.resolve();

  constructor(parts: StoreRoomParts) {
    this.#parts = parts;
  }

  /** Makes room for that many bytes, and counts them until `store` is done. */
  async within<T>(bytes: number, store: () => Promise<T>): Promise<T> {
    this.#arriving += bytes;
    try {
      await this.#makeRoom();
      return await store();
    } finally {
      this.#arriving -= bytes;
    }
  }

  /** A round now and every ten minutes, until the signal aborts. */
  async keepUntil(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await this.#makeRoom();
      await this.#parts.clock.sleep(EVERY_MS, signal);
    }
  }

  /** One at a time, so that two archives do not count on the same room. */
  #makeRoom(): Promise<void> {
    this.#turn = this.#turn.then(() => this.#round());
    return this.#turn;
  }

  /** A failure is logged: the archive may still fit, and the next round tries again. */
  async #round(): Promise<void> {
    const { bus, maxBytes, keepMs = limits.repoKeepMs, clock, log } = this.#parts;
    const now = clock.now();
    if (this.#inVainAt !== null && now - this.#inVainAt < IN_VAIN_MS) return;
    const room = Math.max(0, maxBytes - this.#arriving);
    try {
      const { removed, bytes } = await keepWithin({
        ...{ bus, bucket: BUCKETS.repos, maxBytes: room, mayGo: canBeMadeAgain },
        wantedBefore: new Date(now - keepMs),
        kept: () => this.#named(),
      });
      if (removed.length > 0) log.info({ removed, bytes, maxBytes }, "base trees removed from the store");
      this.#inVainAt = bytes > room ? now : null;
      if (bytes > room)
        log.warn(
          { bytes, room, maxBytes },
          "the store of base trees is over its bound: open runs need what it holds",
        );
    } catch (error) {
      log.warn({ err: error }, "no room made in the store of base trees; the next round tries again");
    }
  }

  /** Everything that a dispatch of an open run names. */
  async #named(): Promise<ReadonlySet<string>> {
    const { journal } = this.#parts;
    const names = new Set<string>();
    const open = await journal.openRunIds();
    for (let from = 0; from < open.length; from += AT_ONCE) {
      const some = await Promise.all(open.slice(from, from + AT_ONCE).map((runId) => journal.read(runId)));
      for (const record of some.flat())
        if (record.type === "dispatch") for (const name of namedObjects(record.body)) names.add(name);
    }
    return names;
  }
}
