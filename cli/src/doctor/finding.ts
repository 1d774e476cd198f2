// A finding of `antiphon doctor`.
export interface Finding {
  readonly name: string;
  /** off: not running, which is not a fault. */
  readonly state: "ok" | "off" | "problem";
  readonly detail: string;
  readonly remedy: string | null;
}

/** The remedy for all that set-up installs. */
export const SETUP = "antiphon setup";
/** How long a check waits for an answer. */
export const QUERY_MS = 3_000;

export function ok(name: string, detail: string): Finding {
  return { name, state: "ok", detail, remedy: null };
}

export function off(name: string, detail: string, remedy: string): Finding {
  return { name, state: "off", detail, remedy };
}

export function problem(name: string, detail: string, remedy: string): Finding {
  return { name, state: "problem", detail, remedy };
}
