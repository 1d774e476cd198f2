/**
 * Reads the first bytes of a connection and puts back the ones that belong to what follows. Null: the connection ended, or
 * the bytes were too many or too late.
 */
import type { Socket } from "node:net";

/** The first line, without its line feed. */
export async function firstLine(socket: Socket, maxBytes: number, withinMs: number): Promise<string | null> {
  const bytes = await gathered(socket, withinMs, (held) => {
    const end = held.indexOf(10);
    if (end >= 0) return { used: end + 1, value: held.toString("latin1", 0, end) };
    return held.length > maxBytes ? { used: 0, value: null } : null;
  });
  return bytes;
}

/** Calls `read` with more and more bytes until it returns a value. All bytes stay in the connection; errors are rethrown. */
export function firstBytes<T>(
  socket: Socket,
  read: (held: Buffer) => T | null,
  withinMs: number,
): Promise<T | null> {
  return gathered(socket, withinMs, (held) => {
    const value = read(held);
    return value === null ? null : { used: 0, value };
  });
}

function gathered<T>(
  socket: Socket,
  withinMs: number,
  step: (held: Buffer) => { readonly used: number; readonly value: T | null } | null,
): Promise<T | null> {
  return new Promise((resolve, reject) => {
    let held: Buffer = Buffer.alloc(0);
    const stop = (): void => {
      clearTimeout(timer);
      socket.off("readable", onReadable);
      socket.off("end", onEnd);
      socket.off("close", onEnd);
    };
    const onEnd = (): void => {
      stop();
      resolve(null);
    };
    const timer = setTimeout(onEnd, withinMs);
    const onReadable = (): void => {
      const piece = socket.read() as Buffer | null;
      if (piece === null) return;
      held = Buffer.concat([held, piece]);
      try {
        const done = step(held);
        if (done === null) return;
        stop();
        if (done.used < held.length) socket.unshift(held.subarray(done.used));
        resolve(done.value);
      } catch (error) {
        stop();
        reject(error instanceof Error ? error : new Error(String(error)));
      }
    };
    socket.on("readable", onReadable);
    socket.on("end", onEnd);
    socket.on("close", onEnd);
    onReadable();
  });
}
