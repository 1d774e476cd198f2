import type { Writable } from "node:stream";

/** Writes, and resolves when the stream can take more; at once when it is closed. */
export async function writeUntilDrained(stream: Writable, bytes: Buffer): Promise<void> {
  if (stream.destroyed || stream.write(bytes)) return;
  await new Promise<void>((resolve) => {
    const done = (): void => {
      stream.off("drain", done);
      stream.off("close", done);
      resolve();
    };
    stream.on("drain", done);
    stream.on("close", done);
  });
}
