// The supervisor's events. `antiphon dev --json` prints one per line; a terminal shows them as sentences.

export type DevEvent =
  | { event: "child_started"; name: string; pid: number }
  | {
      event: "child_exited";
      name: string;
      pid: number;
      code: number | null;
      signal: string | null;
      restartInMs: number;
      tail: string[];
    }
  | { event: "child_log"; name: string; level: string; line: string }
  | {
      event: "ready";
      elapsedMs: number;
      gateway: string;
      nats: string;
      stateDir: string;
      logs: string;
      pids: Record<string, number>;
    }
  /** `--watch`: the sources changed, and these services now run from the new bundle. */
  | { event: "reloaded"; names: string[]; elapsedMs: number }
  | { event: "build_failed"; message: string }
  | { event: "draining"; reason: string }
  | { event: "stopped"; elapsedMs: number };

export type Report = (event: DevEvent) => void;
