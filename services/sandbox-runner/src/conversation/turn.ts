/**
 * One turn of the conversation with a supervisor: a request, and the frames that answer it.
 *
 * Lifecycle: open -> done | dead, and for a command also open -> killed -> done | dead. A command that is killed keeps the
 * output that was heard; if it has not exited soon after, the whole sandbox is ended.
 *
 * Output that a listener has not taken delays its own turn, never a later one, and not the exit of a command that is killed.
 */
import type { Command, PartialOutput, SandboxDied } from "../ports.ts";
import { InputWindow } from "./command-feed.ts";
import type { Frame } from "./frames.ts";
import { Peek } from "./peek.ts";
import { RestingDeadline } from "./resting-deadline.ts";
import type { SupervisorLine } from "./supervisor-line.ts";

/** Time between the request to kill a command and its exit. After that the sandbox is ended. */
const KILL_GRACE_MS = 2_000;

export interface Asked<T> extends Pick<Command, "timeoutMs" | "timeoutEnds"> {
  /** The value that the turn ends with. Null: it goes on. Throws when the frame is no answer. */
  readonly hear: (frame: Frame) => T | null;
  /** The output so far, for whoever asks why the sandbox died. */
  readonly partial?: () => PartialOutput | null;
}

/** How a turn acts on its sandbox. */
interface Means {
  readonly line: Pick<SupervisorLine, "pause" | "resume">;
  /** The supervisor takes its input frame by frame, and kills nothing. */
  readonly isPlain: boolean;
  /** Asks the supervisor to kill the command with its whole process tree. */
  readonly kill: () => void;
  /** Ends the sandbox. */
  readonly timeOut: () => void;
}

export class Turn<T> {
  /** Rejects with SandboxDied. */
  readonly ended: Promise<T>;
  readonly window: InputWindow;
  readonly peek = new Peek();
  readonly deadline: RestingDeadline;
  /** Its time limit was reached, and ended the command alone. */
  isLate = false;
  readonly #asked: Asked<T>;
  readonly #means: Means;
  #at: "open" | "killed" | "over" = "open";
  #resolve: (value: T) => void = () => undefined;
  #reject: (death: SandboxDied) => void = () => undefined;
  /** Listeners that have not taken their output yet. */
  #slow = 0;

  constructor(asked: Asked<T>, means: Means) {
    this.#asked = asked;
    this.#means = means;
    this.window = new InputWindow(means.isPlain);
    this.deadline = new RestingDeadline(asked.timeoutMs, () => this.#late());
    this.ended = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
  }

  /** True when this frame ended the turn. */
  take(frame: Frame): boolean {
    const value = this.#asked.hear(frame);
    if (value === null) return false;
    this.#close();
    if (this.#slow > 0) this.#means.line.resume(); // the next turn must not start paused
    this.#resolve(value);
    return true;
  }

  /** The sandbox is over. */
  die(died: (partial: PartialOutput | null) => SandboxDied): void {
    this.#close();
    this.#reject(died(this.#asked.partial?.() ?? null));
  }

  /** Stops reading from the line until the listener has taken its output. */
  waitFor(taken: Promise<void>): void {
    if (this.#at !== "open") return;
    this.#slow += 1;
    this.#means.line.pause();
    const next = (): void => {
      this.#slow -= 1;
      if (this.#slow === 0 && this.#at !== "over") this.#means.line.resume(); // the line may serve a later turn by now
    };
    taken.then(next, next);
  }

  /** Kills the command. If it does not exit in time, the sandbox is ended. */
  kill(): void {
    if (this.#at !== "open") return;
    this.#at = "killed";
    this.#means.line.resume(); // the exit frame comes after output that no listener may take
    if (!this.#means.isPlain) this.#means.kill();
    setTimeout(() => {
      if (this.#at !== "over") this.#means.timeOut();
    }, KILL_GRACE_MS).unref();
  }

  #late(): void {
    if (this.#asked.timeoutEnds !== "command") return this.#means.timeOut();
    this.isLate = true;
    this.kill();
  }

  #close(): void {
    this.#at = "over";
    this.deadline.stop();
    this.window.close();
    this.peek.end(false);
  }
}
