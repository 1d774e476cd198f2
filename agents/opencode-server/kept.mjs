// Request, session and answer of a compile, in one file: the request before OpenCode is asked, all before it counts as done. The
// Associate reads the file, and keeps request and answer as evidence before the attempt can be proposed.
import { closeSync, fsyncSync, openSync, readFileSync, renameSync, writeSync } from "node:fs";

export class Kept {
  #path;

  constructor(path) {
    this.#path = path;
  }

  /** @returns the answer to this request that the file has; null: none */
  answerTo(input) {
    const held = this.#read();
    return JSON.stringify(held?.input) === JSON.stringify(input) ? (held?.output ?? null) : null;
  }

  /** @returns the request and the session of a compile that has not answered yet @throws Error if there is none */
  underWay() {
    const { input, session } = this.#read() ?? {};
    if (session === undefined) throw new Error(`there is no session to go on with in ${this.#path}`);
    return { input, session };
  }

  /** Null: there is no file. */
  #read() {
    try {
      return JSON.parse(readFileSync(this.#path, "utf8"));
    } catch (error) {
      if (error.code === "ENOENT") return null;
      throw error;
    }
  }

  /** All of it or nothing is in the file. */
  write(payload) {
    const draft = `${this.#path}.part`;
    const file = openSync(draft, "w", 0o600);
    try {
      writeSync(file, JSON.stringify(payload));
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
    renameSync(draft, this.#path);
  }
}
