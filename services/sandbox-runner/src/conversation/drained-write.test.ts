import { PassThrough } from "node:stream";
import { expect, test } from "vitest";
import { writeUntilDrained } from "./drained-write.ts";

const full = (): PassThrough => new PassThrough({ highWaterMark: 1 });
const writers = (stream: PassThrough): Promise<void>[] =>
  Array.from({ length: 20 }, () => writeUntilDrained(stream, Buffer.from("piece")));

test("many writers of one stream share one listener, and all continue when the stream is read", async () => {
  const stream = full();
  const waiting = writers(stream);
  expect([stream.listenerCount("drain"), stream.listenerCount("close")]).toEqual([1, 1]);
  stream.resume();
  await Promise.all(waiting);
  expect([stream.listenerCount("drain"), stream.listenerCount("close")]).toEqual([0, 0]);
});

test("all writers continue when the stream is closed, and a later writer does not wait", async () => {
  const stream = full();
  const waiting = writers(stream);
  stream.destroy();
  await Promise.all(waiting);
  await writeUntilDrained(stream, Buffer.from("late"));
});

test("a stream that was drained can fill up again", async () => {
  const stream = full();
  const first = writeUntilDrained(stream, Buffer.from("first"));
  stream.read();
  await first;
  let isThrough = false;
  const second = writeUntilDrained(stream, Buffer.from("second")).then(() => (isThrough = true));
  await new Promise(setImmediate);
  expect(isThrough).toBe(false);
  stream.read();
  await second;
});
