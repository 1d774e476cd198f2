// How full JetStream is, as the server itself says. A server whose disk is full shuts JetStream down, so runs are
// turned away before that.
//
// Invariants:
//   A1 Above limits.storageAdmissionPercent nothing new is taken in; what was accepted goes on in the room that is left.
//      In a cluster the fullest server that was asked decides: a stream may have a copy on it.
//   A2 Not knowing is no reason to refuse: a server that does not tell is asked again, not waited for.
import { AntiphonError, limits } from "@antiphon/contracts";
import type { Bus } from "@antiphon/runtime";

const FRESH_MS = 1_000;
const ANSWER_MS = 300;

export class StorageWatch {
  readonly #bus: Pick<Bus, "nc" | "monitorUrl">;
  #usedPercent: number | null = null;
  #askedAt = Number.NEGATIVE_INFINITY;

  constructor(bus: Pick<Bus, "nc" | "monitorUrl">) {
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
    const { monitorUrl } = this.#bus;
    if (monitorUrl === undefined) return this.#overNats();
    const urls = monitorUrl.split(",").filter((url) => url.length > 0);
    const told = (await Promise.all(urls.map(overHttp))).filter((percent) => percent !== null);
    return told.length === 0 ? null : Math.max(...told);
  }

  async #overNats(): Promise<number | null> {
    try {
      const options = { timeout: ANSWER_MS };
      const reply = await this.#bus.nc.request("$SYS.REQ.SERVER.PING.JSZ", '{"config":true}', options);
      return percentOf(reply.json<{ data?: StorageReport }>().data);
    } catch {
      return null; // A2
    }
  }
}

async function overHttp(url: string): Promise<number | null> {
  try {
    const signal = AbortSignal.timeout(ANSWER_MS);
    const answer = await fetch(new URL("/jsz?config=true", url), { signal });
    return percentOf((await answer.json()) as StorageReport);
  } catch {
    return null; // A2
  }
}

/** What `jsz` says of a server's disk, in bytes. */
interface StorageReport {
  storage?: number;
  config?: { max_storage?: number };
}

function percentOf({ storage, config }: StorageReport = {}): number | null {
  if (storage === undefined || config?.max_storage === undefined || config.max_storage <= 0) return null;
  return (storage / config.max_storage) * 100;
}
