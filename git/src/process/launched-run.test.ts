import type { Socket } from "node:net";
import { PassThrough } from "node:stream";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { LaunchedRun } from "./launched-run.ts";

beforeEach(() => void vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] }));
afterEach(() => void vi.useRealTimers());

function launched() {
  const heard: string[] = [];
  const onOutput = (piece: Buffer): void => void heard.push(String(piece));
  const order = { file: "git", args: [], cwd: "/", env: {}, stdin: null, onOutput, onError: onOutput };
  const run = new LaunchedRun(order, { wait: () => undefined, kill: () => undefined });
  let end: unknown = null;
  void run.ended.then((ended) => (end = ended));
  const connect = (letter: string, text: string): void => {
    const stream = new PassThrough();
    run.connected(letter, stream as unknown as Socket, Buffer.from(text));
    stream.end();
  };
  return { run, heard, connect, ended: () => end };
}

test("a process whose end is known before its connections is not taken to have said nothing", async () => {
  const { run, heard, connect, ended } = launched();
  run.finished({ code: 0, signal: null });
  await vi.advanceTimersByTimeAsync(5_000);
  expect(ended()).toBeNull();
  connect("o", "refs/heads/main\n");
  connect("e", "");
  await expect(run.ended).resolves.toEqual({ code: 0, signal: null });
  expect(heard).toEqual(["refs/heads/main\n"]);
});

test("a process whose output never arrives counts as ended by a signal, whatever its exit code", async () => {
  const { run, connect, ended } = launched();
  run.finished({ code: 0, signal: null });
  connect("e", "");
  await vi.advanceTimersByTimeAsync(10_000);
  expect(ended()).toEqual({ code: null, signal: "the loss of its output" });
});

test("a process that a signal ended before it connected is not waited for", async () => {
  const { run, ended } = launched();
  run.finished({ code: null, signal: "SIGKILL" });
  await vi.advanceTimersByTimeAsync(250);
  expect(ended()).toEqual({ code: null, signal: "SIGKILL" });
});
