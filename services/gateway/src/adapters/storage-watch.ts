// How full JetStream is, as the server itself says. A server whose disk is full shuts JetStream down, so runs are
// turned away before that.
//
// Invariants:
//   A1 Above limits.storageAdmissionPercent nothing new is taken in; what was accepted goes on in the room that is left.
//   A2 Not knowing is no reason to refuse: a server that does not tell is asked again, not waited for.
import { AntiphonError, limits } from "@antiphon/contracts";
import type { Bus } from "@antiphon/runtime";

const FRESH_MS = 1_000;
const ANSWER_MS = 300;

export class StorageWatch {
  readonly #bus: Bus;
  #usedPercent: number | null = null;
  #askedAt = Number.NEGATIVE_INFINITY;

  constructor(bus: Bus) {
    this.#bus = bus;
  }

  /** Throws ANT_NATS_NO_SPACE when there is too little room for new work. */
  async admit(): Promise<void> {
    const now = performance.now();
    if (now - this.#askedAt > FRESH_MS) {
      this.#askedAt = now;
      this.#usedPercent = await this.#ask();
    }
    if (this.#usedPercent === null || this.#usedPercent < limits.storageAdmissionPercent) return; // A1, A2
    const message = `JetStream is ${Math.floor(this.#usedPercent)} % full; above ${limits.storageAdmissionPercent} % nothing new is taken in`;
    throw new AntiphonError("ANT_NATS_NO_SPACE", message, { data: { usedPercent: this.#usedPercent } });
  }

  async #ask(): Promise<number | null> {
    try {
      const options = { timeout: ANSWER_MS };
      const reply = await this.#bus.nc.request("$SYS.REQ.SERVER.PING.JSZ", '{"config":true}', options);
      const { data } = reply.json<{ data?: { storage?: number; config?: { max_storage?: number } } }>();
      const { storage, config } = data ?? {};
      if (storage === undefined || config?.max_storage === undefined || config.max_storage <= 0) return null;
      return (storage / config.max_storage) * 100;
    } catch {
      return null; // A2
    }
  }
}
