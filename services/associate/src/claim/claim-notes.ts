/**
 * The attempts that a process works on, in a file of its own. The next Associate on this machine reads the files of processes
 * that are gone, and ends their claims at once (left-claims.ts).
 *
 * Lifecycle: opened -> a line for each attempt that begins (`+`) or ends (`-`) -> removed at an orderly end. The lines of one turn
 * of the event loop are written together, because under load there are a dozen. A line that a kill or a full disk
 * keeps from the file costs only time: a claim lapses after the ack wait without it.
 */
import { closeSync, ftruncateSync, mkdirSync, openSync, rmSync, writeSync } from "node:fs";
import { join } from "node:path";
import { ownLabel, type Logger } from "@antiphon/runtime";

export interface ClaimedAttempt {
  readonly runId: string;
  readonly taskId: string;
  readonly epoch: number;
}

/** The first line of a file. */
export interface ClaimsOwner {
  /** See ownLabel of the runtime. */
  readonly owner: string;
  readonly associate: string;
  /** Of the claims in the file. */
  readonly incarnation: string;
}

export interface ClaimNotes {
  /** @returns what ends it */
  begin(attempt: ClaimedAttempt): () => void;
  close(): void;
}

export const NO_NOTES: ClaimNotes = { begin: () => () => undefined, close: () => undefined };

/** A file is written anew when it is longer. */
const MOST_BYTES = 256 * 1024;

export function openClaimNotes(
  directory: string,
  holder: Omit<ClaimsOwner, "owner">,
  log: Logger,
): ClaimNotes {
  try {
    mkdirSync(directory, { recursive: true, mode: 0o700 });
    return new ClaimFile(
      join(directory, `${holder.incarnation}.claims`),
      { owner: ownLabel(), ...holder },
      log,
    );
  } catch (error) {
    log.warn(
      { err: error },
      "no file for claims: those of this process lapse after the ack wait if it is killed",
    );
    return NO_NOTES;
  }
}

class ClaimFile implements ClaimNotes {
  readonly #path: string;
  readonly #file: number;
  readonly #owner: ClaimsOwner;
  readonly #log: Logger;
  readonly #open = new Set<string>();
  /** Lines that are not written yet. */
  #pending = "";
  #bytes = 0;
  #isClosed = false;

  constructor(path: string, owner: ClaimsOwner, log: Logger) {
    this.#path = path;
    this.#owner = owner;
    this.#log = log;
    this.#file = openSync(path, "ax", 0o600);
    this.#append(`${JSON.stringify(owner)}\n`);
  }

  begin(attempt: ClaimedAttempt): () => void {
    const text = lineOf(attempt);
    this.#open.add(text);
    this.#note(`+${text}\n`);
    return () => {
      if (this.#open.delete(text)) this.#note(`-${text}\n`);
    };
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    closeSync(this.#file);
    rmSync(this.#path, { force: true });
  }

  #note(line: string): void {
    if (this.#pending === "") setImmediate(() => this.#write());
    this.#pending += line;
  }

  #write(): void {
    const lines = this.#pending;
    this.#pending = "";
    if (this.#isClosed) return;
    try {
      if (this.#bytes > MOST_BYTES) this.#shorten();
      else this.#append(lines);
    } catch (error) {
      this.#log.warn(
        { err: error },
        "claims not noted; they lapse after the ack wait if this process is killed",
      );
    }
  }

  /** A process that is killed here loses its notes, and its claims lapse later. */
  #shorten(): void {
    ftruncateSync(this.#file);
    this.#bytes = 0;
    this.#append(
      [JSON.stringify(this.#owner), ...[...this.#open].map((text) => `+${text}`)].join("\n") + "\n",
    );
  }

  #append(text: string): void {
    this.#bytes += writeSync(this.#file, text);
  }
}

function lineOf({ runId, taskId, epoch }: ClaimedAttempt): string {
  return JSON.stringify([runId, taskId, epoch]);
}
