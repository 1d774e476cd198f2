import { describe, expect, test } from "vitest";
import { claimStep } from "./claim.ts";
import { isLost, proven } from "./fence.ts";

describe("fence", () => {
  const fence = { ackWaitMs: 12_000, provenAtMs: 1000 };

  test("associate/A4: the claim is held until the newest proof is older than the ack wait", () => {
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

describe("claimStep", () => {
  test.each([
    [{ kind: "ours" }, 1, false, "work"],
    [{ kind: "ours" }, 3, false, "work"],
    [{ kind: "ours" }, 2, true, "settled"],
    [{ kind: "theirs", holder: "as_b" }, 1, false, "wait"],
    [{ kind: "theirs", holder: "as_b" }, 2, false, "expired"],
    [{ kind: "theirs", holder: "as_b" }, 2, true, "settled"],
  ] as const)(
    "associate/A1: a claim that is %o on delivery %i, with a result: %s, means %s",
    (answer, deliveries, hasResult, kind) => {
      expect(claimStep(answer, deliveries, hasResult).kind).toBe(kind);
    },
  );
});
