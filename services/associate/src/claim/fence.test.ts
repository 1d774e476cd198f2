import { describe, expect, test } from "vitest";
import { isLost, proven } from "./fence.ts";

describe("fence", () => {
  const fence = { ackWaitMs: 12_000, provenAtMs: 1000 };

  test("associate/A1: the claim is held until the newest proof is older than the ack wait", () => {
    expect(isLost(fence, 13_000)).toBe(false);
    expect(isLost(fence, 13_001)).toBe(true);
  });

  test("a proof counts from the moment when its request was sent", () => {
    expect(isLost(proven(fence, 5000), 17_000)).toBe(false);
    expect(isLost(proven(fence, 5000), 17_001)).toBe(true);
  });

  test("a late answer does not replace a newer proof", () => {
    expect(proven(proven(fence, 5000), 3000).provenAtMs).toBe(5000);
  });
});
