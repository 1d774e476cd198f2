/** A line to a real process. The clean-up after the process is simulated. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { afterEach, describe, expect, it, vi } from "vitest";
import { processLine } from "./process-line.ts";

const busy = new Error("the machine's record is locked");
/** Longer than the pause before the next try. */
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
  it("reports the end of the process only after the clean-up has succeeded, and repeats a clean-up that failed", async () => {
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

  it("rejects with the reason when the removal fails, and succeeds when it is tried again", async () => {
    const { line, cleanUp, gone, mend } = lineOf();
    await expect(line.remove()).rejects.toBe(busy);
    mend();
    await Promise.all([line.remove(), line.remove()]);
    expect(cleanUp).toHaveBeenCalledTimes(2); // the third joined the second
    await line.kill();
    await gone;
    line.hangUp();
  });

  it("is closed when no more output can come, even if the output was not read to its end", async () => {
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
