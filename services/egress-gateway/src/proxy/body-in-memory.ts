/** The body of a sandbox's request, read into memory. */
import type { IncomingMessage } from "node:http";
import { addAbortSignal, PassThrough } from "node:stream";

/** @param onPiece gets the bytes of each piece and of all until then, and throws once they are too many */
export async function bodyInMemory(
  request: IncomingMessage,
  signal: AbortSignal,
  onPiece: (bytes: number, all: number) => void,
): Promise<Buffer> {
  const pieces: Buffer[] = [];
  let size = 0;
  // An iteration that stops early destroys its stream; the request itself must survive it, to be answered.
  const body = addAbortSignal(signal, request.pipe(new PassThrough()));
  for await (const piece of body as AsyncIterable<Buffer>) {
    size += piece.length;
    onPiece(piece.length, size);
    pieces.push(piece);
  }
  return Buffer.concat(pieces);
}
