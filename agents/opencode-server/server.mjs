// OpenCode's server, on loopback and for one attempt. It hangs and dies at times, and its sessions are on disk: so every call
// has a deadline, and a server that does not answer is ended and started again, on the same sessions. So is one that has grown
// too large, once its client says so.
import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { request } from "node:http";
import { text } from "node:stream/consumers";
import { listenerAt, memoryOf } from "./memory.mjs";

const START_MS = 60_000;
const LISTENING = /listening on (http:\/\/127\.0\.0\.1:\d+)/;
const SHOWN_CHARS = 500;
const LOG_CHARS = 2000;

/** The server gave no answer. It may have carried out the request. */
export class NoAnswer extends Error {}

export class OpenCodeServer {
  #parts;
  #child = null;
  #url = "";
  #password = "";
  #pid = null;

  /** @param parts `program` (its words), `env`, and the `root` of the work tree */
  constructor(parts) {
    this.#parts = parts;
  }

  /** Ends the server that runs, if one does. @throws NoAnswer when it is not ready in time */
  async start() {
    await this.stop();
    const { program, env, root } = this.#parts;
    this.#password = randomBytes(24).toString("hex");
    const [name, ...words] = [...program, "serve", "--hostname", "127.0.0.1", "--port", "0"];
    const child = spawn(name, words, {
      ...{ cwd: root, detached: true, stdio: ["ignore", "pipe", "pipe"] },
      env: { ...env, OPENCODE_SERVER_PASSWORD: this.#password },
    });
    this.#child = child;
    this.#url = await listening(child).catch(async (error) => {
      await this.stop();
      throw error;
    });
    this.#pid = listenerAt(Number(new URL(this.#url).port));
  }

  /** MiB that it takes itself, without what it started; 0: that cannot be seen. */
  memory() {
    return this.#pid === null ? 0 : memoryOf(this.#pid);
  }

  /** The server and all that it started. */
  async stop() {
    const child = this.#child;
    [this.#child, this.#pid] = [null, null];
    if (child === null || child.pid === undefined) return;
    const over = child.exitCode !== null || child.signalCode !== null;
    try {
      process.kill(-child.pid, "SIGKILL");
    } catch (error) {
      if (error.code !== "ESRCH") throw error; // All of it has ended.
    }
    if (!over) await new Promise((resolve) => child.once("exit", resolve));
  }

  /**
   * @returns the parsed answer; null: it was empty
   * @throws NoAnswer if none came within `deadlineMs`; Error with the answer if the server refused
   */
  async call(method, path, { body, deadlineMs }) {
    const { status, said } = await this.#exchange(method, path, body, deadlineMs).catch((error) => {
      throw new NoAnswer(`${method} ${path}: ${error.message}`);
    });
    if (status >= 400) throw new Error(`${method} ${path}: ${status} ${said.slice(0, SHOWN_CHARS)}`);
    return said === "" ? null : JSON.parse(said);
  }

  async #exchange(method, path, body, deadlineMs) {
    const signal = AbortSignal.timeout(deadlineMs);
    const response = await new Promise((resolve, reject) => {
      const headers = {
        authorization: `Basic ${Buffer.from(`opencode:${this.#password}`).toString("base64")}`,
        "content-type": "application/json",
      };
      const asked = request(`${this.#url}${path}`, { method, headers, signal, agent: false });
      asked.on("error", reject).on("response", resolve);
      asked.end(body === undefined ? "" : JSON.stringify(body));
    });
    return { status: response.statusCode, said: await text(response) };
  }
}

/** The address, once the server has said it. */
function listening(child) {
  return new Promise((resolve, reject) => {
    let log = "";
    const fail = (why) => reject(new NoAnswer(`OpenCode's server ${why}: ${log.slice(-SHOWN_CHARS).trim()}`));
    const timer = setTimeout(() => fail(`was not ready in ${START_MS / 1000} s`), START_MS);
    child.on("error", (error) => fail(`did not start (${error.message})`));
    child.on("exit", () => fail("ended at its start"));
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding("utf8").on("data", (piece) => {
        log = (log + piece).slice(-LOG_CHARS);
        const url = LISTENING.exec(log)?.[1];
        if (url === undefined) return;
        clearTimeout(timer);
        resolve(url);
      });
  });
}
