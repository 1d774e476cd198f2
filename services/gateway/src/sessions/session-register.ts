// The log of a session: a row of registers that are written once. Register 0 is its configuration, each later one an event.
import { AntiphonError, limits } from "@antiphon/contracts";
import type {
  Command,
  Correlation,
  PolicyConfig,
  SessionClaim,
  SessionConfig,
  SessionEntry,
  SessionEvent,
} from "@antiphon/contracts";
import type { Said } from "./said.ts";
import type { ReadOpened } from "./session-index.ts";

export interface SessionLog {
  readonly config: SessionConfig;
  readonly entries: readonly SessionEntry[];
}

export interface SessionStore {
  /** False: the register is already written. */
  write(sessionId: string, register: number, document: SessionConfig | SessionEntry): Promise<boolean>;
  read(sessionId: string): Promise<SessionLog | null>;
  /** The entries of this register and later, as they are written; at least 1. */
  follow(sessionId: string, from: number, signal: AbortSignal): AsyncIterable<SessionEntry>;
  readonly opened: ReadOpened;
  /** Turns at carrying out a command, oldest first. `command`: a token made from its id. */
  claims(sessionId: string, command: string): Promise<readonly SessionClaim[]>;
  /** False: turn `n` is taken. */
  claim(sessionId: string, command: string, n: number, claim: SessionClaim): Promise<boolean>;
  policies(): Promise<PolicyConfig>;
}

/** The command that an acceptance is about, and its sender. */
interface Accepted {
  readonly command: Command;
  readonly principal: string;
}

export class SessionRegister {
  readonly #store: SessionStore;
  readonly #now: () => number;

  constructor(store: SessionStore, now: () => number) {
    this.#store = store;
    this.#now = now;
  }

  /** @throws AntiphonError ANT_SESSION_NOT_FOUND */
  async read(sessionId: string): Promise<SessionLog> {
    const log = await this.#store.read(sessionId);
    if (log === null) throw new AntiphonError("ANT_SESSION_NOT_FOUND", `there is no session ${sessionId}`);
    return log;
  }

  /** Writes the next event; false: another one took its place. */
  say(
    sessionId: string,
    entries: readonly SessionEntry[],
    correlation: Correlation,
    { event, payload, workspace, artifact, policy }: Said,
    accepted: Accepted | null = null,
  ): Promise<boolean> {
    const sequence = entries.length + 1;
    if (sequence > limits.sessionEvents) {
      const message = `the session has ${limits.sessionEvents} events, which is the limit; open another session`;
      throw new AntiphonError("ANT_CONTRACT_LIMIT", message, { data: { limit: limits.sessionEvents } });
    }
    const at = new Date(this.#now()).toISOString();
    const told = {
      ...{ sequence, eventId: `${sessionId}-${sequence}`, at },
      ...{ correlation, event, payload },
    } as SessionEvent;
    return this.#store.write(sessionId, sequence, {
      ...{ v: 1, event: told, command: null },
      ...(accepted === null ? {} : accepted),
      ...(workspace === undefined || workspace === null ? {} : { workspace }),
      ...(artifact === undefined ? {} : { artifact }),
      ...(policy === undefined ? {} : { policy }),
    });
  }
}
