import { ERRORS } from "@antiphon/contracts/errors";
import type { Logger } from "../process/logger.ts";
import type { PublishResult } from "./publish-result.ts";

/** A stream that takes no messages of this process for lack of space, in the server's words. */
export interface StorageRefusal {
  readonly stream: string;
  readonly reason: string;
}

/** A stream that is nearly full refuses large messages and takes small ones, so it would be logged at each. */
const LOG_EVERY_MS = 60_000;

/**
 * Which streams refuse this process's messages because the server, its disk or the stream is full. Everything that is refused is
 * tried again by somebody, so each such time is logged once, when it begins, and once when the stream accepts a message again.
 */
export class StorageRefusals {
  readonly #log: Pick<Logger, "warn" | "info"> | undefined;
  readonly #now: () => number;
  readonly #refusing = new Map<string, { readonly reason: string; readonly isLogged: boolean }>();
  readonly #loggedAt = new Map<string, number>();

  constructor(log: Pick<Logger, "warn" | "info"> | undefined, now: () => number) {
    this.#log = log;
    this.#now = now;
  }

  /** The first of them that began; null: there is none. */
  get first(): StorageRefusal | null {
    const [entry] = this.#refusing;
    return entry === undefined ? null : { stream: entry[0], reason: entry[1].reason };
  }

  /** `first` in words; null: there is none. */
  words(): string | null {
    return this.first === null ? null : `${this.first.stream}: ${this.first.reason}`;
  }

  /** Of a message to `stream`. */
  note(stream: string, result: PublishResult): void {
    if (result.kind === "ok") {
      if (this.#refusing.size > 0) this.#accepted(stream);
    } else if (result.kind === "failed" && result.refusal === "full" && !this.#refusing.has(stream))
      this.#refused(stream, `${result.description} (${result.code})`);
  }

  #refused(stream: string, reason: string): void {
    const isLogged = this.#now() - (this.#loggedAt.get(stream) ?? Number.NEGATIVE_INFINITY) >= LOG_EVERY_MS;
    this.#refusing.set(stream, { reason, isLogged });
    if (!isLogged) return;
    this.#loggedAt.set(stream, this.#now());
    const { remedy } = ERRORS.ANT_NATS_NO_SPACE;
    this.#log?.warn(
      { code: "ANT_NATS_NO_SPACE", stream, reason, remedy },
      "JetStream has no space left; what it refuses is sent again",
    );
  }

  #accepted(stream: string): void {
    const refused = this.#refusing.get(stream);
    if (refused === undefined) return;
    this.#refusing.delete(stream);
    if (refused.isLogged) this.#log?.info({ stream }, "JetStream has space again");
  }
}
