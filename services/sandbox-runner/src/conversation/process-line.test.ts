/** A line to a real process; what has to be cleaned up after it is played. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { afterEach, describe, expect, it, vi } from "vitest";
import { processLine } from "./process-line.ts";

const busy = new Error("the machine's record is locked");
/** Long after it would have been tried again. */
const AGAIN_MS = 1_000;

/** A process that lives as long as its input, and a clean-up that fails until `mend` is called. */
function lineOf() {
  let isBroken = true;
  const cleanUp = vi.fn(() => (isBroken ? Promise.reject(busy) : Promise.resolve()));
  const child = spawn("cat", { stdio: ["pipe", "pipe", "pipe"] });
  const line = processLine(child, { id: "process", remove: () => undefined, cleanUp });
  const seen = { closed: 0, gone: null as number | null };
  const ignore = (): void => undefined;
  line.listen({ stdout: ignore, stderr: ignore, fault: ignore, closed: () => void (seen.closed += 1) });
  const gone = line.gone.then((status) => (seen.gone = status));
  return { child, line, cleanUp, seen, gone, mend: () => void (isBroken = false) };
}

afterEach(() => vi.useRealTimers());

describe("the line to a process", () => {
  it("L1: says that it is gone when the clean-up has been done at last, and never fails of it", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    const { child, line, cleanUp, seen, gone, mend } = lineOf();
    const ended = once(child, "close");
    await line.kill();
    await ended;
    await vi.advanceTimersByTimeAsync(3 * AGAIN_MS);
    expect(cleanUp.mock.calls.length).toBeGreaterThan(2);
    expect(seen.gone).toBeNull();
    mend();
    await vi.advanceTimersByTimeAsync(AGAIN_MS);
    expect(await gone).toBe(-1);
    line.hangUp();
  });

  it("L1, B4: rejects with the reason when it cannot be removed, and removes what can be", async () => {
    const { line, cleanUp, gone, mend } = lineOf();
    await expect(line.remove()).rejects.toBe(busy);
    mend();
    await Promise.all([line.remove(), line.remove()]);
    expect(cleanUp).toHaveBeenCalledTimes(2); // the third joined the second
    await line.kill();
    await gone;
    line.hangUp();
  });

  it("B2: is closed when nothing more can come, though nobody read to the end", async () => {
    const { child, line, seen, gone, mend } = lineOf();
    mend();
    line.pause();
    const closed = once(child.stdout, "close");
    line.hangUp();
    await closed;
    expect(seen.closed).toBeGreaterThan(0);
    await line.kill();
    await gone;
  });
});
