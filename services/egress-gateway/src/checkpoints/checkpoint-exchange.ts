/**
 * Answers the requests of a sandbox about its checkpoints. None of them leaves this gateway and its stores.
 *
 *   PUT /tree    its files, in a form of its own; they count from the next PUT /state on
 *   PUT /state   what it needs to go on; with this the checkpoint counts, in place of the one before
 *   GET /state   the newest checkpoint, of this attempt or of the lost one that it goes on from; 404: none
 *   GET /tree    its files; 404: they are as at the beginning
 *
 * Both bodies come from a sandbox and are only ever given to a sandbox of the same task. Secrets are masked in the state. In the
 * files they are not: with other bytes a pack is broken and a file is another one, so the work would be lost; and only the same
 * task gets them back, which has the run's secrets anyway, within a week.
 */
import { gunzipSync, gzipSync } from "node:zlib";
import type { IncomingMessage, ServerResponse } from "node:http";
import { Readable } from "node:stream";
import { limits, type BlobRef } from "@antiphon/contracts";
import { EgressRefusal } from "../policy/refusal.ts";
import { bodyInMemory } from "../proxy/body-in-memory.ts";
import { counting, passedOn } from "../proxy/passed-on.ts";
import { scrubbed } from "../policy/scrubber.ts";
import type { Target } from "../policy/target.ts";
import type { Kept, Register } from "./checkpoints.ts";

const PIECE_BYTES = 64 * 1024;

export interface CheckpointAsk {
  readonly target: Target;
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly signal: AbortSignal;
  /** Count the bytes that pass. */
  readonly up: (bytes: number) => void;
  readonly down: (bytes: number) => void;
}

export interface CheckpointPorts {
  /** Begins the register; called once, with the first request. */
  readonly begin: () => Promise<Register>;
  readonly store: (bytes: Buffer) => Promise<BlobRef>;
  readonly read: (blob: BlobRef, signal: AbortSignal) => Promise<Buffer>;
  readonly secrets: readonly string[];
  /** The recordings of the model calls until now. */
  readonly calls: () => readonly BlobRef[];
  /** The program goes on from a checkpoint that another sandbox has left. */
  readonly onRestored: (kept: Kept) => void;
  /** Left and read in all. Default: limits.checkpointBytes. */
  readonly mostBytes?: number;
}

export class CheckpointExchange {
  readonly #ports: CheckpointPorts;
  #register: Promise<Register> | null = null;
  /** Of the files that the next state counts with; undefined: those of the newest checkpoint. */
  #tree: BlobRef | undefined;
  #bytes = 0;
  #isOwn = false;
  #turn: Promise<unknown> = Promise.resolve();

  constructor(ports: CheckpointPorts) {
    this.#ports = ports;
  }

  /** One request after the other. Returns the status. */
  answer(ask: CheckpointAsk): Promise<number> {
    const turn = this.#turn.then(() => this.#answer(ask));
    this.#turn = turn.catch(() => undefined);
    return turn;
  }

  async #answer(ask: CheckpointAsk): Promise<number> {
    ask.signal.throwIfAborted();
    this.#register ??= this.#ports.begin();
    const register = await this.#register.catch((error: unknown) => {
      if (!(error instanceof EgressRefusal)) this.#register = null; // It may succeed the next time.
      throw error;
    });
    const isState = ask.target.path === "/state";
    if (ask.request.method === "GET")
      return isState ? this.#state(ask, register) : this.#files(ask, register);
    if (isState) await this.#keep(ask, register);
    else this.#tree = await this.#ports.store(await this.#body(ask, limits.checkpointTreeBytes));
    ask.response.writeHead(204).end();
    return 204;
  }

  async #keep(ask: CheckpointAsk, register: Register): Promise<void> {
    const { store, secrets, calls } = this.#ports;
    const text = (await this.#body(ask, limits.checkpointStateBytes)).toString("utf8");
    const state = await store(gzipSync(Buffer.from(scrubbed(text, secrets), "utf8")));
    const tree = this.#tree ?? register.kept?.tree ?? null;
    await register.keep({ state, tree, calls: calls() });
    this.#isOwn = true;
  }

  async #state(ask: CheckpointAsk, { kept }: Register): Promise<number> {
    if (kept === null) return nothing(ask);
    const text = gunzipSync(await this.#ports.read(kept.state, ask.signal), {
      maxOutputLength: limits.checkpointStateBytes,
    });
    if (!this.#isOwn) this.#ports.onRestored(kept);
    this.#isOwn = true;
    return this.#sent(ask, text, "application/json");
  }

  async #files(ask: CheckpointAsk, { kept }: Register): Promise<number> {
    if (kept === null || kept.tree === null) return nothing(ask);
    return this.#sent(ask, await this.#ports.read(kept.tree, ask.signal), "application/octet-stream");
  }

  /** Ends when the sandbox has taken all of it: until then it is in memory, and the next request of the sandbox waits. */
  async #sent({ response, signal, down }: CheckpointAsk, bytes: Buffer, type: string): Promise<number> {
    this.#count(bytes.length);
    response.writeHead(200, { "content-type": type, "content-length": bytes.length });
    await passedOn(Readable.from(piecesOf(bytes)), counting(down), response, signal);
    return 200;
  }

  #body({ request, signal, up }: CheckpointAsk, most: number): Promise<Buffer> {
    return bodyInMemory(request, signal, (bytes, all) => {
      up(bytes);
      this.#count(bytes);
      if (all > most) throw tooLarge(`a checkpoint over ${most} bytes`);
    });
  }

  /** Counts refused and repeated bytes too, because they cost the gateway as much. */
  #count(bytes: number): void {
    this.#bytes += bytes;
    const { mostBytes = limits.checkpointBytes } = this.#ports;
    if (this.#bytes > mostBytes) throw tooLarge(`checkpoints over ${mostBytes} bytes`);
  }
}

/** For a replay, which leaves nothing: it begins at the beginning, and what it keeps is forgotten. */
export function forgetful({ request, response }: CheckpointAsk): Promise<number> {
  const status = request.method === "GET" ? 404 : 204;
  request.resume();
  response.writeHead(status, status === 404 ? { "content-length": 0 } : {}).end();
  return Promise.resolve(status);
}

function nothing({ response }: CheckpointAsk): number {
  response.writeHead(404, { "content-length": 0 }).end();
  return 404;
}

function* piecesOf(bytes: Buffer): Generator<Buffer> {
  for (let at = 0; at < bytes.length; at += PIECE_BYTES) yield bytes.subarray(at, at + PIECE_BYTES);
}

function tooLarge(why: string): EgressRefusal {
  return new EgressRefusal("ANT_EGRESS_QUOTA", "checkpoint:size", why, 413);
}
