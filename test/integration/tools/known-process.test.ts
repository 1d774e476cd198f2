import { spawn } from "node:child_process";
import { once } from "node:events";
import { describe, expect, it } from "vitest";
import { isAlive, knownProcess } from "../../support/known-process.ts";

describe("a known process", () => {
  it("is alive until it ends", async () => {
    const child = spawn("sleep", ["600"]);
    await once(child, "spawn");
    const known = knownProcess(child.pid ?? -1);
    expect(isAlive(known)).toBe(true);
    const ended = once(child, "exit");
    child.kill("SIGKILL");
    await ended;
    expect(isAlive(known)).toBe(false);
    expect(isAlive(knownProcess(known.pid))).toBe(false);
  });

  it.runIf(process.platform === "linux")("is not alive because another one has its number now", () => {
    const now = knownProcess(process.pid);
    expect(isAlive(now)).toBe(true);
    expect(isAlive({ ...now, startTicks: String(Number(now.startTicks) - 1) })).toBe(false);
  });
});
