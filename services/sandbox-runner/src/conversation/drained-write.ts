import type { Writable } from "node:stream";

/** What the writers of a stream wait for, so that many of them are one listener. */
const drains = new WeakMap<Writable, Promise<void>>();

/** Writes, and resolves when the stream can take more; at once when it is closed. */
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
