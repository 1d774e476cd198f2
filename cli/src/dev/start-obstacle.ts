// Why a start does not get on, from what its processes write.
import { Failure } from "../failure.ts";

/** How long a service may report that it cannot get ready before the start is given up. */
const OBSTACLE_MS = 3_000;

export class StartObstacle {
  readonly #dir: string;
  #first: { failure: Failure; since: number } | null = null;

  /** `dir`: of the store. */
  constructor(dir: string) {
    this.#dir = dir;
  }

  /** Null: there is none, or it may still pass. */
  get failure(): Failure | null {
    return this.#first !== null && Date.now() - this.#first.since > OBSTACLE_MS ? this.#first.failure : null;
  }

  /** Remembers the first reason a service gives for not being ready; it has OBSTACLE_MS to recover. */
  hearService(line: string): void {
    if (!line.includes('"ready":false')) return;
    const { code, message, remedy } = JSON.parse(line) as { code: string; message: string; remedy: string };
    this.#first ??= { failure: new Failure(code, message, { remedy }), since: Date.now() };
  }

  /** The services only see that a stream cannot be made; the nats-server says why. */
  hearNats(line: string): void {
    if (!/no space left on device|disk quota exceeded/i.test(line)) return;
    const failure = new Failure("ANT_STATE_DISK_FULL", `${this.#dir}: no space left for the journal`);
    this.#first ??= { failure, since: Date.now() - OBSTACLE_MS };
  }
}
