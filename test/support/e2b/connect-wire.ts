/**
 * The Connect protocol as the E2B SDK uses it: JSON; unary calls plain, streams in envelopes of five bytes and a body.
 */
import type { IncomingMessage, ServerResponse } from "node:http";

const END_OF_STREAM = 2;

export async function bodyOf(request: IncomingMessage): Promise<Buffer> {
  const pieces: Buffer[] = [];
  for await (const piece of request) pieces.push(piece as Buffer);
  return Buffer.concat(pieces);
}

/** The single request message of a streaming call. */
export function openEnvelope(body: Buffer): unknown {
  const length = body.readUInt32BE(1);
  if (body[0] !== 0 || body.length !== 5 + length) throw new Error("not one plain envelope");
  return JSON.parse(body.toString("utf8", 5));
}

function envelope(flags: number, message: unknown): Buffer {
  const text = Buffer.from(JSON.stringify(message), "utf8");
  const head = Buffer.alloc(5);
  head[0] = flags;
  head.writeUInt32BE(text.length, 1);
  return Buffer.concat([head, text]);
}

export interface ConnectStream {
  /** False: wait for `drained` before the next one. */
  send(message: unknown): boolean;
  drained(then: () => void): void;
  /** Called when the caller closes the connection. */
  onHangUp(then: () => void): void;
  end(): void;
}

export function connectStream(response: ServerResponse): ConnectStream {
  response.writeHead(200, { "content-type": "application/connect+json" });
  return {
    send: (message) => response.write(envelope(0, message)),
    drained: (then) => void response.once("drain", then),
    onHangUp: (then) => void response.once("close", then),
    end: () => void response.end(envelope(END_OF_STREAM, {})),
  };
}

export function answer(response: ServerResponse, status: number, document?: unknown): void {
  const text = document === undefined ? "" : JSON.stringify(document);
  response.writeHead(status, { "content-type": "application/json" }).end(text);
}
