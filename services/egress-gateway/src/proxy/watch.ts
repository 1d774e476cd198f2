/** The clock of one exchange: ends it when nothing moves or when it takes too long (proxy/sandbox-listener.ts, L6). */
import type { Deadlines } from "./deadlines.ts";
import { EgressRefusal } from "../policy/refusal.ts";

export class Watch {
  readonly #stop = new AbortController();
  readonly #idle: NodeJS.Timeout;
  readonly #long: NodeJS.Timeout;

  /** `blame` says, at that moment, who of the two keeps the other waiting. */
  constructor({ idleMs, requestMs }: Deadlines, blame: () => EgressRefusal) {
    this.#idle = setTimeout(() => this.#stop.abort(blame()), idleMs);
    const why = `the request took longer than ${requestMs} ms`;
    const late = new EgressRefusal("ANT_EGRESS_TIMEOUT", "request:long", why);
    this.#long = setTimeout(() => this.#stop.abort(late), requestMs);
  }

  /** Aborts with the refusal that ended the exchange; with any other reason when the sandbox hung up. */
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
