import { describe, expect, it } from "vitest";
import { InputQueue } from "./input-queue.ts";

const bytes = (text: string): Buffer => Buffer.from(text);

async function all(queue: InputQueue): Promise<string> {
  const pieces: Buffer[] = [];
  for await (const piece of queue) pieces.push(piece);
  return String(Buffer.concat(pieces));
}

describe("a command's input", () => {
  it("is read in order and once, even if a piece is sent again", async () => {
    const queue = new InputQueue();
    const read = all(queue);
    expect(await queue.offer(1, bytes("no"), false)).toBe(false);
    expect(await Promise.all([queue.offer(0, bytes("a"), false), queue.offer(0, bytes("a"), false)])).toEqual(
      [true, true],
    );
    expect(await queue.offer(0, bytes("a"), false)).toBe(true);
    expect(await queue.offer(1, bytes("b"), true)).toBe(true);
    expect(await read).toBe("ab");
  });

  it("waits until it is read", async () => {
    const queue = new InputQueue();
    let answered = false;
    const offered = queue.offer(0, bytes("a"), true).then(() => (answered = true));
    await Promise.resolve();
    expect(answered).toBe(false);
    expect(await all(queue)).toBe("a");
    await offered;
  });

  it("is answered and dropped when the command no longer reads", async () => {
    const queue = new InputQueue();
    const offered = queue.offer(0, bytes("a"), false);
    queue.close();
    expect(await offered).toBe(true);
    expect(await queue.offer(1, bytes("b"), false)).toBe(true);
  });

  it("a piece that is sent before the previous one was taken waits, and neither is lost", async () => {
    const queue = new InputQueue();
    const offered = [queue.offer(0, bytes("a"), false), queue.offer(1, bytes("b"), true)];
    expect(await all(queue)).toBe("ab");
    expect(await Promise.all(offered)).toEqual([true, true]);
  });

  it("is answered when its reader leaves with the piece in hand", async () => {
    const queue = new InputQueue();
    const offered = queue.offer(0, bytes("a"), false);
    const reader = queue[Symbol.asyncIterator]();
    expect(await reader.next()).toEqual({ done: false, value: bytes("a") });
    await reader.return();
    expect(await offered).toBe(true);
  });

  it("is answered when its reader is about to leave", async () => {
    const queue = new InputQueue();
    const reader = queue[Symbol.asyncIterator]();
    const [next, left] = [reader.next(), reader.return()];
    expect(await queue.offer(0, bytes("a"), false)).toBe(true);
    await Promise.all([next, left]);
    expect(await queue.offer(1, bytes("b"), true)).toBe(true);
  });
});
