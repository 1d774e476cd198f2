/** The deadlines of one exchange: for silence and for its whole length (egress-gateway/E7). */
import type { Deadlines } from "./deadlines.ts";
import { EgressRefusal } from "../policy/refusal.ts";

export class Watch {
  readonly #stop = new AbortController();
  readonly #idle: NodeJS.Timeout;
  readonly #long: NodeJS.Timeout;

  /** `blame` is called at the idle deadline and returns the refusal that names the stalled side. */
  constructor({ idleMs, requestMs }: Deadlines, blame: () => EgressRefusal) {
    this.#idle = setTimeout(() => this.#stop.abort(blame()), idleMs);
    const why = `the request took longer than ${requestMs} ms`;
    const late = new EgressRefusal("ANT_EGRESS_TIMEOUT", "request:long", why);
    this.#long = setTimeout(() => this.#stop.abort(late), requestMs);
  }

  /** Aborts with the refusal of the deadline that passed, or with another reason when the sandbox hung up. */
  get signal(): AbortSignal {
    return this.#stop.signal;
  }

  moved(): void {
    this.#idle.refresh();
  }

  gone(): void {
    this.end();
    this.#stop.abort();
  }

  end(): void {
    clearTimeout(this.#idle);
    clearTimeout(this.#long);
  }
}
