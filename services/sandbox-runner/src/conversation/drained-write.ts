import type { Writable } from "node:stream";

/** One pending drain per stream, so that many writers add only one listener. */
const drains = new WeakMap<Writable, Promise<void>>();

/** Writes, and resolves when the stream can take more. Resolves at once when the stream is closed. */
export async function writeUntilDrained(stream: Writable, bytes: Buffer): Promise<void> {
  if (stream.destroyed || stream.write(bytes)) return;
  const drain = drains.get(stream) ?? drained(stream);
  drains.set(stream, drain);
  await drain;
}

function drained(stream: Writable): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      stream.off("drain", done);
      stream.off("close", done);
      drains.delete(stream);
      resolve();
    };
    stream.on("drain", done);
    stream.on("close", done);
  });
}
