/**
 * Gives each container of this process a user of its own.
 *
 * A lease is no record of its own. A container's label tells its user, so the engine's list of containers is the list of
 * leases, and a lease ends when its container is gone, no matter which process dies when. Only users that are chosen and
 * have no container yet are held in memory. A choice from a list that is some seconds old is no danger, only a try for
 * nothing if another runner has taken that user since.
 *
 * Two runners cannot keep the same user: each first creates its container, with the label, then looks for others of that user,
 * and starts it only if there is none. The runner that looks last looks after both containers were created, so it sees the
 * other one and gives its own up. At worst both give up and choose again. A container that is created beside a confirmed one of
 * its own user needs no look of its own, because a later runner sees one of the two.
 *
 * Because the kernel counts some resources by user, no two live containers of an engine have the same user once they are
 * started, except a sandbox and the container of ours that keeps its top until it runs (sandbox-runner/S11).
 */
import { setTimeout as sleep } from "node:timers/promises";
import { AntiphonError } from "@antiphon/contracts";
import { LABELS } from "../../reaper/reap-plan.ts";
import { freeUids, type UidPart } from "../sandbox-uids.ts";
import type { Engine } from "./docker-engine.ts";

const TRIES = 20;
/** For so long a list of the engine's containers is good enough to choose by. */
const LIST_AGE_MS = 5_000;
const LONGEST_PAUSE_MS = 300;

/** Another container has the user. */
export class UidTaken extends Error {
  override readonly name = "UidTaken";
}

/** Chooses among free users; undefined when none suits. */
export type ChooseUid = (free: readonly number[]) => number | undefined;

/** Seldom the choice of another runner. */
export const anyUid: ChooseUid = (free) => free[Math.floor(Math.random() * free.length)];

export class UidLeases {
  readonly #engine: Pick<Engine, "labelled">;
  readonly #begin: number;
  readonly #held = new Set<number>();
  /** The users that containers had, and when that was asked. */
  #listed: { readonly taken: ReadonlySet<number>; readonly atMs: number } | null = null;

  /** @param begin the place of the first user (sandbox-uids.ts) */
  constructor(engine: Pick<Engine, "labelled">, begin = 0) {
    this.#engine = engine;
    this.#begin = begin;
  }

  /**
   * Does `work` with a user that no container has. It is begun again with another one when it rejects with UidTaken. The
   * user is held until the promise of `heldUntil` resolves; without it, until the work is done.
   */
  async use<T>(
    part: UidPart,
    choose: ChooseUid,
    work: (uid: number) => Promise<T>,
    heldUntil: (result: T) => Promise<unknown> = () => Promise.resolve(),
  ): Promise<T> {
    for (let tries = 1; ; tries += 1) {
      const uid = await this.#take(part, choose);
      const end = (): void => void this.#held.delete(uid);
      try {
        const result = await work(uid);
        void heldUntil(result).finally(end);
        return result;
      } catch (error) {
        end();
        if (!(error instanceof UidTaken) || tries === TRIES) throw error;
        this.#listed = null;
        await sleep(Math.random() * LONGEST_PAUSE_MS); // two runners that met do not meet again
      }
    }
  }

  /**
   * Rejects with UidTaken when another container than `id`, which was created and not started, has the user.
   * @param confirmed a container of the same owner and user that was confirmed before
   */
  async confirm(uid: number, id: string, confirmed: string | null = null): Promise<void> {
    const found = await this.#engine.labelled(`${LABELS.uid}=${uid}`);
    if (found.some((one) => one.id === confirmed)) return;
    const other = found.find((one) => one.id !== id);
    if (other !== undefined) throw new UidTaken(`container ${other.name} has user ${uid}`); // sandbox-runner/S11
  }

  async #take(part: UidPart, choose: ChooseUid): Promise<number> {
    const listed = await this.#takenBy(part);
    const taken = new Set([...listed, ...this.#held]);
    const uid = choose(freeUids(part, taken, this.#begin)); // nothing is awaited between the look at the held ones and the hold
    if (uid === undefined)
      throw new AntiphonError(
        "ANT_SANDBOX_FAILED",
        "the containers of this engine have all users of sandboxes",
      );
    this.#held.add(uid);
    return uid;
  }

  /** Sandboxes over layers take the same users again, so an old list would lead them to one of another runner's each time. */
  async #takenBy(part: UidPart): Promise<ReadonlySet<number>> {
    const known = this.#listed;
    const atMs = performance.now();
    if (part === "other" && known !== null && atMs - known.atMs < LIST_AGE_MS) return known.taken;
    const found = await this.#engine.labelled(LABELS.uid);
    const taken = new Set(found.map(({ labels }) => Number(labels[LABELS.uid])));
    this.#listed = { taken, atMs };
    return taken;
  }
}
