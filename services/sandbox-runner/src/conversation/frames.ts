/**
 * The frames exchanged with a supervisor (see supervisor/sealed-supervisor.ts) and the engine's own multiplexing
 * around them. Both decoders are incremental: they take any chunks and return whole units. They buffer only the
 * incomplete tail of one frame, and a header that does not parse ends the session.
 */
import { ByteQueue } from "./byte-queue.ts";

export interface Frame {
  readonly type: string;
  readonly payload: Buffer;
}

export class FrameError extends Error {
  override readonly name = "FrameError";
}

export const FRAME_HEADER_BYTES = 12;
/** Supervisors cut output into 64 KiB pieces; hello, exit and fatal frames are shorter still. */
export const MAX_FRAME_BYTES = 256 * 1024;
const LINE_FEED = 10;
const SPACE = 32;

export function encodeFrame(type: string, payload: Buffer | string = ""): Buffer {
  const body = typeof payload === "string" ? Buffer.from(payload, "utf8") : payload;
  return Buffer.concat([Buffer.from(`${type} ${String(body.length).padStart(9, "0")}\n`, "latin1"), body]);
}

/** Cuts input into frames of at most 64 KiB, so that a supervisor can do other work between them. */
export function* encodeStdin(bytes: Buffer, piece = 64 * 1024): Generator<Buffer> {
  for (let at = 0; at < bytes.length; at += piece) yield encodeFrame("I", bytes.subarray(at, at + piece));
}

export class FrameDecoder {
  readonly #tail = new ByteQueue();
  /** How many bytes complete the next header, or the frame that the last header announced. */
  #needed = FRAME_HEADER_BYTES;

  /** Frames completed by this chunk, in order. */
  push(chunk: Buffer): Frame[] {
    this.#tail.push(chunk);
    if (this.#tail.length < this.#needed) return [];
    let bytes = this.#tail.joined();
    const frames: Frame[] = [];
    this.#needed = FRAME_HEADER_BYTES;
    while (bytes.length >= FRAME_HEADER_BYTES) {
      const length = payloadLength(bytes);
      if (bytes.length < FRAME_HEADER_BYTES + length) {
        this.#needed = FRAME_HEADER_BYTES + length;
        break;
      }
      frames.push({
        type: String.fromCharCode(bytes[0] ?? 0),
        payload: bytes.subarray(FRAME_HEADER_BYTES, FRAME_HEADER_BYTES + length),
      });
      bytes = bytes.subarray(FRAME_HEADER_BYTES + length);
    }
    this.#tail.keep(bytes);
    return frames;
  }
}

function payloadLength(header: Buffer): number {
  const digits = header.toString("latin1", 2, 11);
  if (header[1] !== SPACE || header[11] !== LINE_FEED || !/^\d{9}$/.test(digits)) {
    throw new FrameError("the supervisor's stream is not made of frames"); // sandbox-runner/S10
  }
  const length = Number(digits);
  if (length > MAX_FRAME_BYTES) throw new FrameError(`a frame of ${length} bytes is over the bound`); // sandbox-runner/S10
  return length;
}

/** The content of one chunk of an attach stream. */
export interface EngineChunk {
  readonly stream: "stdout" | "stderr";
  readonly bytes: Buffer;
}

/** Docker's attach stream without a TTY: [1|2, 0, 0, 0, length as u32 big-endian] and the bytes. */
export class EngineDemux {
  #tail: Buffer = Buffer.alloc(0);
  #open: { stream: "stdout" | "stderr"; left: number } | null = null;

  push(chunk: Buffer): EngineChunk[] {
    let bytes = this.#tail.length === 0 ? chunk : Buffer.concat([this.#tail, chunk]);
    const out: EngineChunk[] = [];
    for (;;) {
      if (this.#open === null) {
        if (bytes.length < 8) break;
        const kind = bytes[0];
        if (kind !== 1 && kind !== 2) throw new FrameError(`the engine sent stream ${String(kind)}`);
        this.#open = { stream: kind === 1 ? "stdout" : "stderr", left: bytes.readUInt32BE(4) };
        bytes = bytes.subarray(8);
      }
      // Each piece is passed on as it comes, so the announced length is never buffered.
      const piece = bytes.subarray(0, this.#open.left);
      if (piece.length > 0) out.push({ stream: this.#open.stream, bytes: piece });
      this.#open.left -= piece.length;
      bytes = bytes.subarray(piece.length);
      if (this.#open.left > 0) break;
      this.#open = null;
    }
    this.#tail = Buffer.from(bytes);
    return out;
  }
}
