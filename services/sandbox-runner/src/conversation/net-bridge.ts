/**
 * The only way traffic leaves a sandbox: connections to one loopback port inside it, carried as frames over the
 * supervisor's stdio (supervisor/sealed-supervisor.ts, P9) and dialled out here, one for one. The container has no network;
 * where a connection ends is decided by `dial`, never by what comes out of the sandbox.
 *
 * Lifecycle: closed -> opening -> open -> shut. A connection lives from `c` to `q`, `Q`, or the end of its step.
 *
 * Invariants:
 *   Y1  What the sandbox sends is bytes for a connection it opened, and nothing else: no address, no name.
 *   Y2  Each side may have 256 KiB under way per connection and 64 connections; past that the frame is a fault.
 *   Y3  Nothing is dialled before `open` and after `shut`.
 *   Y10 An end of the other side alone leaves a connection open for what the sandbox still says, as TCP does; once the
 *       other side is gone, what is said breaks the connection: no bytes are taken for nobody.
 */
import type { Duplex } from "node:stream";
import { encodeFrame, FrameError, type Frame } from "./frames.ts";

const WINDOW_BYTES = 256 * 1024;
const PIECE_BYTES = 64 * 1024;
const MAX_CONNECTIONS = 64;

interface Connection {
  readonly outside: Duplex;
  /** What may still be sent into the sandbox. */
  credit: number;
  /** What the sandbox may still send. */
  allowance: number;
  ended: boolean;
}

type Phase =
  | { readonly at: "closed" }
  | { readonly at: "opening"; readonly dial: () => Duplex; readonly settle: (fault: string | null) => void }
  | { readonly at: "open"; readonly dial: () => Duplex }
  | { readonly at: "shut" };

export class NetBridge {
  readonly #send: (frame: Buffer) => void;
  readonly #connections = new Map<number, Connection>();
  #phase: Phase = { at: "closed" };

  constructor(send: (frame: Buffer) => void) {
    this.#send = send;
  }

  /** Listens on 127.0.0.1:port inside; null, or why the sandbox cannot. */
  open(port: number, dial: () => Duplex): Promise<string | null> {
    if (this.#phase.at !== "closed") return Promise.resolve("asked for twice, or too late");
    return new Promise((resolve) => {
      const settle = (fault: string | null): void => {
        if (this.#phase.at === "opening")
          this.#phase = fault === null ? { at: "open", dial } : { at: "closed" };
        resolve(fault);
      };
      this.#phase = { at: "opening", dial, settle };
      this.#send(encodeFrame("N", String(port)));
    });
  }

  /** True when the frame was one of a connection. Throws for one that breaks the rules (Y1, Y2). */
  hear({ type, payload }: Frame): boolean {
    if (type === "n") {
      const said = payload.toString("utf8");
      if (this.#phase.at !== "opening") throw new FrameError("n, and nobody asked for a network");
      this.#phase.settle(said === "ok" ? null : said);
      return true;
    }
    if (!"cdgsq".includes(type)) return false;
    if (payload.length < 4) throw new FrameError(`${type} without a connection`);
    const id = payload.readUInt32BE(0);
    if (type === "c") this.#opened(id);
    else this.#heard(type, id, payload.subarray(4));
    return true;
  }

  shut(): void {
    if (this.#phase.at === "opening") this.#phase.settle("the sandbox is over");
    this.#phase = { at: "shut" }; // Y3
    for (const { outside } of this.#connections.values()) outside.destroy();
    this.#connections.clear();
  }

  #opened(id: number): void {
    if (this.#phase.at !== "open") throw new FrameError("a connection, and there is no network"); // Y3
    if (this.#connections.has(id) || this.#connections.size >= MAX_CONNECTIONS)
      throw new FrameError(`connection ${id} cannot be opened`); // Y2
    const outside = this.#phase.dial();
    const connection: Connection = { outside, credit: WINDOW_BYTES, allowance: WINDOW_BYTES, ended: false };
    this.#connections.set(id, connection);
    outside.on("readable", () => {
      this.#pump(id, connection);
    });
    outside.on("end", () => {
      this.#pump(id, connection);
    });
    // Its own fault or ours: the client sees a closed connection, and the log of the gateway says why.
    outside.on("error", () => {
      this.#drop(id, connection);
    });
    outside.on("close", () => {
      if (!connection.ended) this.#drop(id, connection);
    });
  }

  #heard(type: string, id: number, bytes: Buffer): void {
    const connection = this.#connections.get(id);
    if (connection === undefined) return; // dropped on this side meanwhile
    const { outside } = connection;
    if (type === "d") {
      connection.allowance -= bytes.length;
      if (connection.allowance < 0) throw new FrameError(`connection ${id} sent more than its credit`); // Y2
      outside.write(Buffer.from(bytes), (error) => {
        if (this.#connections.get(id) !== connection) return;
        if (error) return void this.#drop(id, connection); // Y10
        connection.allowance += bytes.length;
        this.#send(encodeFrame("G", numbers(id, bytes.length)));
      });
    } else if (type === "s") outside.end();
    else if (type === "g") {
      connection.credit = Math.min(
        WINDOW_BYTES,
        connection.credit + (bytes.length >= 4 ? bytes.readUInt32BE(0) : 0),
      );
      this.#pump(id, connection);
    } else {
      this.#connections.delete(id);
      outside.destroy();
    }
  }

  /** Moves what has come into the sandbox, as far as its credit goes. */
  #pump(id: number, connection: Connection): void {
    const { outside } = connection;
    if (this.#connections.get(id) !== connection) return;
    while (connection.credit > 0 && outside.readableLength > 0) {
      const size = Math.min(connection.credit, outside.readableLength, PIECE_BYTES);
      const piece = outside.read(size) as Buffer | null;
      if (piece === null) break;
      connection.credit -= piece.length;
      this.#send(encodeFrame("D", Buffer.concat([numbers(id), piece])));
    }
    if (outside.readableEnded && !connection.ended) {
      connection.ended = true;
      this.#send(encodeFrame("S", numbers(id)));
    } else if (outside.readableLength === 0) outside.read(0);
  }

  #drop(id: number, connection: Connection): void {
    if (this.#connections.get(id) !== connection) return;
    this.#connections.delete(id);
    connection.outside.destroy();
    this.#send(encodeFrame("Q", numbers(id)));
  }
}

function numbers(...values: number[]): Buffer {
  const bytes = Buffer.alloc(4 * values.length);
  values.forEach((value, i) => bytes.writeUInt32BE(value >>> 0, 4 * i));
  return bytes;
}
