/**
 * Ends a container from our side: it is killed, and removed if it does not go in time.
 *
 * `ended` resolves only when the provider reports that the container is gone; otherwise it rejects with the reason. A
 * container that cannot be killed loses its line, so that its supervisor exits; one that cannot be removed either is left
 * to the reaper.
 */
import { withDeadline } from "@antiphon/runtime";
import type { SupervisorLine } from "./supervisor-line.ts";

const GONE_DEADLINE_MS = 4_000;

export class ContainerEnd {
  readonly #line: SupervisorLine;
  #hasExited = false;
  #ended: Promise<void> | null = null;
  #letGo: () => void = () => undefined;
  /**
   * Resolves when the container is gone, or when every attempt to end it from here has failed and the reaper has to.
   */
  readonly letGo = new Promise<void>((resolve) => (this.#letGo = resolve));

  constructor(line: SupervisorLine) {
    this.#line = line;
    void line.gone.then(() => (this.#hasExited = true));
  }

  /** Null until the end was begun. */
  get ended(): Promise<void> | null {
    return this.#ended;
  }

  /** `gone` resolves when the provider has reported the end. Later calls change nothing. */
  begin(gone: Promise<void>): void {
    if (this.#ended !== null) return;
    this.#ended = this.#end(gone);
    // A caller of `destroy` gets a failure; without one, the reaper removes the container.
    this.#ended.then(this.#letGo, this.#letGo);
  }

  async #end(gone: Promise<void>): Promise<void> {
    const inTime = gone.then(() => true);
    const ended = withDeadline(GONE_DEADLINE_MS, inTime, () => false);
    // Not awaited: an engine that does not answer would keep the line open all the while. A failure shows below.
    if (!this.#hasExited) void this.#line.kill().catch(() => this.#line.hangUp());
    const isGone = await ended;
    this.#line.hangUp(); // before the removal, which may fail: a supervisor without its line exits
    if (!isGone) await this.#line.remove();
  }
}
