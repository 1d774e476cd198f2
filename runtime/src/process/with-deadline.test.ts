import { describe, expect, test } from "vitest";
import { withDeadline } from "./with-deadline.ts";

const LATE = (): string => "late";
const never = new Promise<string>(() => undefined);

describe("work with a deadline", () => {
  test("gives its value, or its failure, if it ends in time", async () => {
    await expect(withDeadline(60_000, Promise.resolve("done"), LATE)).resolves.toBe("done");
    await expect(withDeadline(60_000, Promise.reject(new Error("broken")), LATE)).rejects.toThrow("broken");
  });

  test("gives what is said of late work, be it a value or a failure", async () => {
    await expect(withDeadline(1, never, LATE)).resolves.toBe("late");
    const refuse = (): never => {
      throw new Error("no answer");
    };
    await expect(withDeadline(1, never, refuse)).rejects.toThrow("no answer");
  });

  test("leaves no timer behind, and no rejection unhandled when late work fails", async () => {
    const timers = (): number => process.getActiveResourcesInfo().filter((kind) => kind === "Timeout").length;
    const before = timers();
    const unhandled: unknown[] = [];
    const hear = (reason: unknown): number => unhandled.push(reason);
    process.on("unhandledRejection", hear);
    let fail = (_: Error): void => undefined;
    const work = new Promise<string>((_, reject) => (fail = reject));
    expect(await withDeadline(1, work, LATE)).toBe("late");
    fail(new Error("after the deadline"));
    await new Promise((resolve) => setImmediate(resolve));
    process.off("unhandledRejection", hear);
    expect(unhandled).toEqual([]);
    expect(timers()).toBe(before);
  });
});
