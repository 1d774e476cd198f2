// Carries out the accepted commands of sessions, one after the other, because each builds on the workspace that the one
// before it left. Any gateway can take the next command; a request about a session makes its gateway look.
import { AntiphonError } from "@antiphon/contracts";
import type { SessionEntry } from "@antiphon/contracts";
import type { CommandClaims } from "./command-claim.ts";
import type { CommandExecutor } from "./command-executor.ts";
import { isTold, isWaiting, pendingCommands, type PendingCommand } from "./session-log.ts";
import type { Said } from "./said.ts";
import type { SessionRegister } from "./session-register.ts";

interface Parts {
  readonly register: SessionRegister;
  readonly claims: CommandClaims;
  readonly executor: CommandExecutor;
  /** The work of a session ended early; the next request about it begins again. */
  onFault(error: AntiphonError, sessionId: string): void;
}

interface Going {
  readonly done: Promise<void>;
  /** The log may have grown since it was read last. */
  wanted: boolean;
}

export class SessionWork {
  readonly #parts: Parts;
  readonly #going = new Map<string, Going>();
  readonly #stop = new AbortController();

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** Looks for accepted commands. Resolves when none is left that could be carried out now; never rejects. */
  start(sessionId: string): Promise<void> {
    const known = this.#going.get(sessionId);
    if (known !== undefined) {
      known.wanted = true;
      return known.done;
    }
    const going: Going = { wanted: true, done: Promise.resolve().then(() => this.#run(sessionId, going)) };
    this.#going.set(sessionId, going);
    return going.done;
  }

  /** Ends what is going on; a command that was begun is taken up by the next gateway. */
  async drain(): Promise<void> {
    this.#stop.abort();
    await Promise.all([...this.#going.values()].map(({ done }) => done));
  }

  async #run(sessionId: string, going: Going): Promise<void> {
    try {
      while (going.wanted && !this.#stop.signal.aborted) {
        going.wanted = false;
        await this.#carryOn(sessionId);
      }
    } catch (error) {
      this.#parts.onFault(AntiphonError.from(error), sessionId);
    } finally {
      this.#going.delete(sessionId);
    }
  }

  async #carryOn(sessionId: string): Promise<void> {
    const { register, claims, executor } = this.#parts;
    for (;;) {
      const { config, entries } = await register.read(sessionId);
      const pending = pendingCommands(entries).find(({ command }) => !isWaiting(entries, command.commandId));
      if (pending === undefined || this.#stop.signal.aborted) return;
      const turn = await claims.take(sessionId, pending.command.commandId);
      if (turn === null) return;
      try {
        const execution = { config, entries, pending, again: turn.again };
        const events = await executor.carryOut(execution, this.#stop.signal);
        if (events === null) return;
        await this.#tell(sessionId, entries, pending, events);
      } finally {
        turn.end();
      }
    }
  }

  async #tell(
    sessionId: string,
    known: readonly SessionEntry[],
    { command }: PendingCommand,
    events: readonly Said[],
  ): Promise<void> {
    const { register } = this.#parts;
    const about = { ...command.correlation, commandId: command.commandId };
    let entries = known;
    for (const [i, one] of events.entries()) {
      // Another entry may take the register first, so the log is read again until it contains this event.
      while (!isTold(entries, command.commandId, i)) {
        await register.say(sessionId, entries, about, one);
        ({ entries } = await register.read(sessionId));
      }
    }
  }
}
