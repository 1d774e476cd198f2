/**
 * Hears the hints that a run was canceled or told something, for all attempts of this process through one subscription. A hint only makes an
 * attempt read the journal sooner; losing one costs a heartbeat's time.
 */
import { subjects, type ControlHint } from "@antiphon/contracts";
import { listen, type Bus } from "@antiphon/runtime";

export class CancelHints {
  readonly #listeners = new Map<string, Set<() => void>>();

  constructor(bus: Bus) {
    listen<ControlHint>(bus, subjects.controlAll, (hint, subject) => {
      if (hint.kind !== "cancel" && hint.kind !== "message") return;
      const hearing = this.#listeners.get(subject) ?? [];
      for (const hear of [...hearing]) hear();
    });
  }

  /** Calls `hear` on each hint for this run; returns how to stop that. */
  on(runId: string, hear: () => void): () => void {
    const subject = subjects.control(runId);
    const listeners = this.#listeners.get(subject) ?? new Set();
    this.#listeners.set(subject, listeners.add(hear));
    return () => {
      const wasThere = listeners.delete(hear);
      if (wasThere && listeners.size === 0) this.#listeners.delete(subject);
    };
  }
}
