// Request and answer of a compile, in one file: the request before OpenCode is asked, both before it counts as done. The
// Associate reads the file, and keeps both as evidence before the attempt can be proposed.
import { closeSync, fsyncSync, openSync, readFileSync, renameSync, writeSync } from "node:fs";

export class Kept {
  #path;

  constructor(path) {
    this.#path = path;
  }

  /** @returns the answer to this request that the file has; null: none */
  answerTo(input) {
    let held;
    try {
      held = JSON.parse(readFileSync(this.#path, "utf8"));
    } catch (error) {
      if (error.code === "ENOENT") return null;
      throw error;
    }
    return JSON.stringify(held.input) === JSON.stringify(input) ? (held.output ?? null) : null;
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
