import { describe, expect, test } from "vitest";
import { claimStep } from "./claim.ts";
import { isLost, proven } from "./fence.ts";

describe("fence", () => {
  const fence = { ackWaitMs: 12_000, provenAtMs: 1000 };

  test("A4 the claim is held until the ack wait has passed since the newest proof", () => {
    expect(isLost(fence, 13_000)).toBe(false);
    expect(isLost(fence, 13_001)).toBe(true);
  });

  test("A4 a proof counts from when its request was sent", () => {
    expect(isLost(proven(fence, 5000), 17_000)).toBe(false);
    expect(isLost(proven(fence, 5000), 17_001)).toBe(true);
  });

  test("A4 an answer that arrives late does not take a newer proof back", () => {
    expect(proven(proven(fence, 5000), 3000).provenAtMs).toBe(5000);
  });
});

describe("claimStep", () => {
  test.each([
    [{ kind: "ours" }, 1, false, "work"],
    [{ kind: "ours" }, 3, false, "work"],
    [{ kind: "ours" }, 2, true, "settled"],
    [{ kind: "theirs", holder: "as_b" }, 1, false, "wait"],
    [{ kind: "theirs", holder: "as_b" }, 2, false, "lapse"],
    [{ kind: "theirs", holder: "as_b" }, 2, true, "settled"],
  ] as const)("A1 %o on delivery %i, result there: %s, is %s", (answer, deliveries, hasResult, kind) => {
    expect(claimStep(answer, deliveries, hasResult).kind).toBe(kind);
  });
});
