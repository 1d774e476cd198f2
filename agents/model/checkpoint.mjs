// Checkpoints of the loop: its conversation and its files, left outside the container after every answer of the model and every
// tool. If a process dies under the attempt, the loop of the next one goes on from the newest. They go over the proxy to the egress
// gateway, which ANTIPHON_CHECKPOINT names; without that variable, or without git, none are kept.
//
// A checkpoint that cannot be stored costs nothing but itself, except where the gateway says that another attempt goes on from the
// last one (409): then this loop is alone with its work, and ends.
import { Tree } from "./tree.mjs";

const LIMIT_MS = 60_000;
const FENCED = 409;

/** Another attempt goes on from here. */
export class Fenced extends Error {}

/** @returns null if none can be kept here */
export async function openCheckpoints(env, root, send, note) {
  const place = env.ANTIPHON_CHECKPOINT ?? "";
  if (place === "") return null;
  try {
    return new Checkpoints(place, await Tree.open(root, env), send, note);
  } catch (error) {
    note({ event: "checkpoint", ok: false, why: error.message });
    return null;
  }
}

class Checkpoints {
  #place;
  #tree;
  #send;
  #note;
  /** The tree of the newest checkpoint, and its commit. */
  #kept = null;
  #isFaulty = false;

  constructor(place, tree, send, note) {
    this.#place = place;
    this.#tree = tree;
    this.#send = send;
    this.#note = note;
  }

  /** Puts the files of the newest checkpoint in place. @returns what `keep` was given then; null: there is none */
  async restored() {
    let isBegun = false;
    try {
      const found = await this.#ask("GET", "state");
      if (found === null) return null;
      const { v, tree, state } = JSON.parse(found.toString("utf8"));
      if (v !== 1) throw new Error(`a checkpoint of version ${v}`);
      const pack = this.#tree.isBeginning(tree) ? null : await this.#ask("GET", "tree");
      isBegun = true;
      await this.#tree.restore(tree, pack);
      this.#kept = tree;
      return state;
    } catch (error) {
      if (error instanceof Fenced) throw error;
      if (isBegun) await this.#beginAgain(error);
      this.#note({ event: "checkpoint", ok: false, why: error.message });
      return null;
    }
  }

  /** Nobody works on files that are restored in part: if they cannot be taken back, the loop ends, and says both reasons. */
  async #beginAgain(cause) {
    await this.#tree.reset().catch((error) => {
      const why = `a checkpoint could not be restored (${cause.message}), nor the files of the beginning (${error.message})`;
      throw new Error(why, { cause });
    });
  }

  /** @param state what the loop needs to go on, as JSON */
  async keep(state) {
    try {
      const tree = await this.#tree.now();
      if (!this.#tree.isSame(tree, this.#kept)) await this.#ask("PUT", "tree", await this.#tree.packed(tree));
      await this.#ask("PUT", "state", JSON.stringify({ v: 1, tree, state }));
      this.#kept = tree;
      this.#isFaulty = false;
    } catch (error) {
      if (error instanceof Fenced) throw error;
      if (!this.#isFaulty) this.#note({ event: "checkpoint", ok: false, why: error.message });
      this.#isFaulty = true; // The first of several in a row says it.
    }
  }

  async #ask(method, name, body) {
    const signal = AbortSignal.timeout(LIMIT_MS);
    const answer = await this.#send(`${this.#place}/${name}`, { method, signal, ...(body && { body }) });
    const content = Buffer.from(await answer.arrayBuffer());
    if (answer.ok) return content;
    if (answer.status === 404 && method === "GET") return null;
    if (answer.status === FENCED) throw new Fenced("another attempt goes on from the last checkpoint");
    throw new Error(`${method} ${name}: ${answer.status} ${content.toString("utf8").slice(0, 300)}`);
  }
}
