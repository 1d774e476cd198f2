/**
 * Finds out whether the holder of a claim is alive, and answers for the attempts of this process.
 *
 * Lifecycle: opened before the first claim; answers until the connection ends, also while the process drains. An asker keeps
 * the delivery meanwhile, at most for the rest of the holder's lease.
 *
 * Promises:
 *   associate/A8 Because a holder that is slow, stopped or cut off may come back, its attempt is taken from it only when its
 *     whole lease is over; earlier only if the server says, repeatedly and to an asker whose own connection did not break,
 *     that nobody listens where the holder does.
 */
import { answeringIncarnation, answersProbes, limits, subjects } from "@antiphon/contracts";
import type { ClaimBody } from "@antiphon/contracts";
import { ackWaitOf, attend, probe, uniqueId, type Bus, type Clock, type Logger } from "@antiphon/runtime";
import { beginning, judge, REST_OF_LEASE_MS, type Holder, type Sighting } from "./holder-signs.ts";

interface Place {
  readonly runId: string;
  readonly taskId: string;
  readonly epoch: number;
}

const PROBE_MS = 1000;
const PAUSE_MS = 150;
/** For this long a process tries to hear itself at its start. */
const HEAR_MS = 5000;

export class Holders {
  readonly incarnation: string;
  readonly #bus: Bus;
  readonly #clock: Clock;
  #upSinceMs: number | null;

  private constructor(bus: Bus, clock: Clock, incarnation: string) {
    this.#bus = bus;
    this.#clock = clock;
    this.incarnation = incarnation;
    this.#upSinceMs = bus.connected ? performance.now() : null;
    bus.onConnectivity((up) => (this.#upSinceMs = up ? performance.now() : null));
  }

  /** `working`: the attempts of this process, by `attemptKey`. */
  static async open(
    bus: Bus,
    clock: Clock,
    working: Pick<ReadonlySet<string>, "has">,
    log: Logger,
  ): Promise<Holders> {
    const id = uniqueId();
    const answering = answeringIncarnation(id);
    const subject = subjects.attemptHolder(answering);
    attend(bus, subject, (request) => ({ working: working.has(attemptKey(request as Place)) }));
    if (await hearsItself(bus, clock, subject)) return new Holders(bus, clock, answering);
    log.warn({}, "this process cannot be asked about its attempts; they lapse later if it is killed");
    return new Holders(bus, clock, id);
  }

  /** @returns at once with `silent` if the lease of a dispatch that came again is over anyway */
  async look({ incarnation }: ClaimBody, place: Place, signal: AbortSignal): Promise<Holder> {
    const ackWaitMs = await ackWaitOf(this.#bus, "associate", place.runId);
    if (ackWaitMs >= limits.associateAckWaitMs) return "silent";
    if (!answersProbes(incarnation)) return "unknown";
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

  async #ask(subject: string, { runId, taskId, epoch }: Place, waitMs: number): Promise<Sighting["saw"]> {
    const presence = await probe(this.#bus, subject, { runId, taskId, epoch }, waitMs);
    if (presence.kind !== "answer") return presence.kind;
    const { working } = presence.value as { working?: unknown };
    if (typeof working !== "boolean") return "unasked";
    return working ? "working" : "ended";
  }
}

/** False: this NATS user may not listen or ask there, for example because the server has the rights of an older release. */
async function hearsItself(bus: Bus, clock: Clock, subject: string): Promise<boolean> {
  for (const until = performance.now() + HEAR_MS; performance.now() < until;) {
    const { kind } = await probe(bus, subject, {}, PROBE_MS);
    if (kind === "answer") return true;
    if (kind === "unasked" && bus.connected) return false;
    await clock.sleep(PAUSE_MS);
  }
  return false;
}

export const attemptKey = ({ runId, taskId, epoch }: Place): string => `${runId} ${taskId} ${epoch}`;
