// A gateway's turn at carrying out a command. Two gateways that read the same log would both carry it out; a claim is
// written once, so one of them does. A gateway renews its claim while it works. One that died leaves a claim that ends, and
// the next gateway is told that an earlier try may have had an effect.
import { createHash } from "node:crypto";
import { limits } from "@antiphon/contracts";
import type { SessionStore } from "./session-register.ts";

export interface Turn {
  /** An earlier try was made, here or elsewhere. */
  readonly again: boolean;
  end(): void;
}

export class CommandClaims {
  readonly #store: Pick<SessionStore, "claim" | "claims">;
  readonly #holder: string;
  readonly #now: () => number;

  constructor(store: Pick<SessionStore, "claim" | "claims">, holder: string, now: () => number) {
    this.#store = store;
    this.#holder = holder;
    this.#now = now;
  }

  /** Null: another gateway has the command. */
  async take(sessionId: string, commandId: string): Promise<Turn | null> {
    const command = createHash("sha256").update(commandId).digest("hex").slice(0, 32);
    const claims = await this.#store.claims(sessionId, command);
    const last = claims.at(-1);
    if (last !== undefined && last.holder !== this.#holder && Date.parse(last.until) > this.#now())
      return null;
    let turn = claims.length + 1;
    if (!(await this.#store.claim(sessionId, command, turn, this.#claim()))) return null;
    const renewal = setInterval(() => {
      turn += 1;
      // A renewal that fails is made up for by the next one; without any, the claim ends.
      this.#store.claim(sessionId, command, turn, this.#claim()).catch(() => (turn -= 1));
    }, limits.sessionClaimMs / 3);
    return { again: last !== undefined, end: () => clearInterval(renewal) };
  }

  #claim(): { holder: string; until: string } {
    return { holder: this.#holder, until: new Date(this.#now() + limits.sessionClaimMs).toISOString() };
  }
}
