/**
 * The only way traffic leaves a sandbox: connections to one loopback port inside it are carried as frames over the
 * supervisor's stdio (supervisor/sealed-supervisor.ts) and dialled out here, one for one. The container has no network.
 * `dial` alone decides where a connection ends: the sandbox sends bytes for connections it opened, never an address
 * or a name.
 *
 * Lifecycle: closed -> opening -> open -> shut. A connection lives from `c` to `q`, `Q`, or the end of its step.
 *
 * Each side may have 64 connections and 256 KiB under way per connection; more than that is a protocol fault.
 *
 * When the other side only ends its sending half, the connection stays open for what the sandbox still sends, as in TCP.
 * When the other side is gone, further bytes break the connection, so that the sandbox learns that they were lost.
 */
import type { Duplex } from "node:stream";
import { encodeFrame, FrameError, type Frame } from "./frames.ts";

const WINDOW_BYTES = 256 * 1024;
const PIECE_BYTES = 64 * 1024;
const MAX_CONNECTIONS = 64;

interface Connection {
  readonly outside: Duplex;
  /** Bytes that may still be sent into the sandbox. */
  credit: number;
  /** Bytes that the sandbox may still send. */
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

  /** Makes the sandbox listen on 127.0.0.1:port. Resolves to null, or to the reason why the sandbox cannot. */
  open(port: number, dial: () => Duplex): Promise<string | null> {
    if (this.#phase.at !== "closed")
      return Promise.resolve("the network was requested twice, or after the sandbox ended");
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

  /** True when the frame was about a connection. Throws when the frame breaks the rules. */
  hear({ type, payload }: Frame): boolean {
    if (type === "n") {
      const said = payload.toString("utf8");
      if (this.#phase.at !== "opening") throw new FrameError("n, but no network was requested");
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
    this.#phase = { at: "shut" };
    for (const { outside } of this.#connections.values()) outside.destroy();
    this.#connections.clear();
  }

  #opened(id: number): void {
    if (this.#phase.at !== "open") throw new FrameError("a connection was opened, but there is no network");
    if (this.#connections.has(id) || this.#connections.size >= MAX_CONNECTIONS)
      throw new FrameError(`connection ${id} cannot be opened`);
    const outside = this.#phase.dial();
    const connection: Connection = { outside, credit: WINDOW_BYTES, allowance: WINDOW_BYTES, ended: false };
    this.#connections.set(id, connection);
    outside.on("readable", () => {
      this.#pump(id, connection);
    });
    outside.on("end", () => {
      this.#pump(id, connection);
    });
    // The client sees a closed connection whichever side caused the error; the gateway's log says why.
    outside.on("error", () => {
      this.#drop(id, connection);
    });
    outside.on("close", () => {
      if (!connection.ended) this.#drop(id, connection);
    });
  }

  #heard(type: string, id: number, bytes: Buffer): void {
    const connection = this.#connections.get(id);
    if (connection === undefined) return; // this side dropped it in the meantime
    const { outside } = connection;
    if (type === "d") {
      connection.allowance -= bytes.length;
      if (connection.allowance < 0) throw new FrameError(`connection ${id} sent more than its credit`);
      outside.write(Buffer.from(bytes), (error) => {
        if (this.#connections.get(id) !== connection) return;
        if (error) return void this.#drop(id, connection);
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

  /** Moves incoming bytes into the sandbox, as far as its credit allows. */
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
