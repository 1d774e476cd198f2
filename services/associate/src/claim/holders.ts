/**
 * Finds out whether the holder of a claim is alive, and answers for the attempts of this process.
 *
 * Lifecycle: opened before the first claim; answers until the connection ends, also while the process drains. An asker keeps
 * the delivery meanwhile, at most for the rest of the holder's lease.
 *
 * Promises:
 *   associate/A8 Because a holder that is slow, stopped or cut off may come back, its attempt is taken from it only
 *     when its whole lease is over; earlier only if the kernel says that its process is gone, or the server, repeatedly
 *     and to an asker whose own connection did not break, that nobody listens where the holder does.
 */
import { answeringIncarnation, answersProbes, limits, subjects } from "@antiphon/contracts";
import type { ClaimBody } from "@antiphon/contracts";
import { ackWaitOf, attend, probe, uniqueId, type Bus, type Clock, type Logger } from "@antiphon/runtime";
import { hearsItself } from "./hearing.ts";
import { beginning, judge, REST_OF_LEASE_MS, type Holder, type Sighting } from "./holder-signs.ts";

interface Place {
  readonly runId: string;
  readonly taskId: string;
  readonly epoch: number;
}

export interface HoldersParts {
  readonly bus: Bus;
  readonly clock: Clock;
  /** The attempts of this process, by `attemptKey`. */
  readonly working: Pick<ReadonlySet<string>, "has">;
  readonly log: Logger;
  /** Ends the wait for the server. */
  readonly signal: AbortSignal;
}

const PROBE_MS = 1000;
const PAUSE_MS = 150;

export class Holders {
  readonly incarnation: string;
  readonly #bus: Bus;
  readonly #clock: Clock;
  readonly #log: Logger;
  #upSinceMs: number | null;

  private constructor({ bus, clock, log }: HoldersParts, incarnation: string) {
    this.#bus = bus;
    this.#clock = clock;
    this.#log = log;
    this.incarnation = incarnation;
    this.#upSinceMs = bus.connected ? performance.now() : null;
    bus.onConnectivity((up) => (this.#upSinceMs = up ? performance.now() : null));
  }

  /** Waits for the server's answer. */
  static async open(parts: HoldersParts): Promise<Holders> {
    const { bus, clock, working, log, signal } = parts;
    const id = uniqueId();
    const answering = answeringIncarnation(id);
    const subject = subjects.attemptHolder(answering);
    attend(bus, subject, (request) => ({ working: working.has(attemptKey(request as Place)) }));
    const ask = async () => (await probe(bus, subject, {}, PROBE_MS)).kind;
    if (await hearsItself(ask, clock, signal)) return new Holders(parts, answering);
    log.warn({}, "this process cannot be asked about its attempts; they lapse later if it is killed");
    return new Holders(parts, id);
  }

  /**
   * A holder that answers is asked even if the server now waits for the whole lease: it may have waited for less when it sent the
   * dispatch. One that cannot be asked is `silent` if the server waits for the whole lease.
   */
  async look({ incarnation }: ClaimBody, place: Place, signal: AbortSignal): Promise<Holder> {
    if (!answersProbes(incarnation)) {
      const waitedMs = await this.#waitedFor(place);
      return waitedMs !== null && waitedMs >= limits.associateAckWaitMs ? "silent" : "unknown";
    }
    const subject = subjects.attemptHolder(incarnation);
    let signs = beginning(performance.now());
    for (let askAtMs = signs.askedSinceMs; !signal.aborted;) {
      const leftMs = REST_OF_LEASE_MS - (performance.now() - signs.askedSinceMs);
      const waitMs = Math.max(0, Math.min(leftMs, PROBE_MS));
      const saw = await this.#ask(subject, place, waitMs);
      const nowMs = performance.now();
      const verdict = judge(signs, { saw, nowMs, dueMs: askAtMs + waitMs, upSinceMs: this.#upSinceMs }); // associate/A8
      if (typeof verdict === "string") return verdict;
      signs = verdict;
      askAtMs = saw === "nobody" ? nowMs + PAUSE_MS : nowMs;
      if (saw === "nobody") await this.#clock.sleep(PAUSE_MS, signal);
    }
    return "unknown";
  }

  /** For how long the server has not heard the holder; null: it does not say, so nothing is known. */
  async #waitedFor({ runId }: Place): Promise<number | null> {
    try {
      return await ackWaitOf(this.#bus, "associate", runId);
    } catch (error) {
      this.#log.warn({ err: error, run: runId }, "ack wait not read; the holder is looked for again later");
      return null;
    }
  }

  async #ask(subject: string, { runId, taskId, epoch }: Place, waitMs: number): Promise<Sighting["saw"]> {
    const presence = await probe(this.#bus, subject, { runId, taskId, epoch }, waitMs);
    if (presence.kind === "forbidden") return "unasked";
    if (presence.kind !== "answer") return presence.kind;
    const { working } = presence.value as { working?: unknown };
    if (typeof working !== "boolean") return "unasked";
    return working ? "working" : "ended";
  }
}

export const attemptKey = ({ runId, taskId, epoch }: Place): string => `${runId} ${taskId} ${epoch}`;
